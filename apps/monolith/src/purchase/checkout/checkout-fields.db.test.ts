import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';

// Validation of the checkout body: the holders of the seats and the email address.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let held: HeldSeats;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 5, 20)] });
});
afterAll(() => opened.close());
beforeEach(async () => {
  held = await office.held(match, { quantity: 2 });
});

const checkOut = (body: unknown) =>
  office.monolith.call('POST', `/api/v1/reservations/${held.id}/checkout`, { as: held.userId, body });
const named = (name: unknown) => held.seatIds.map((seat_id) => ({ seat_id, name }));
const validBody = () => ({ holders: named('Ana'), email: 'ana@example.hr' });
const ordersOf = () => office.rows(`select 1 from orders where reservation_id = $1`, [held.id]);

const BAD_NAMES: [string, unknown][] = [
  ['empty', ''],
  ['only spaces', '   '],
  ['a number', 7],
  ['101 characters', 'x'.repeat(101)],
  ['a text with a line break', 'Ana\nBcc: x@example.hr'],
  ['a text with a C1 control character', 'Ana\u0085'],
  ['a text with a right-to-left override', 'Ana\u202egnp'],
  ['a letter with a hundred combining marks', `A${'\u0301'.repeat(100)}`],
];
const BAD_EMAILS: unknown[] = [
  '',
  'ana',
  'ana@',
  '@example.hr',
  'ana@example',
  'a b@example.hr',
  'ana@example.hr\nBcc: b@example.hr',
  'ana@example.hr,b@example.hr',
  `${'a'.repeat(250)}@example.hr`,
  null,
  7,
  ['ana@example.hr'],
];

test.each([
  ...BAD_NAMES.map(([what, name]): [string, () => unknown, string] => [
    `a holder name that is ${what}`,
    () => ({ ...validBody(), holders: named(name) }),
    'holders.0.name',
  ]),
  ...BAD_EMAILS.map((email): [string, () => unknown, string] => [
    `the email ${JSON.stringify(email).slice(0, 40)}`,
    () => ({ ...validBody(), email }),
    'email',
  ]),
  ['a missing email', () => ({ holders: named('Ana') }), 'email'] as [string, () => unknown, string],
  ['a missing holder list', () => ({ email: 'ana@example.hr' }), 'holders'] as [string, () => unknown, string],
  ['a holder without a seat id', () => ({ ...validBody(), holders: [{ name: 'Ana' }] }), 'holders.0.seat_id'] as [
    string,
    () => unknown,
    string,
  ],
  [
    'a list of 21 holders',
    () => ({ ...validBody(), holders: Array.from({ length: 21 }, () => ({ seat_id: randomUUID(), name: 'Ana' })) }),
    'holders',
  ] as [string, () => unknown, string],
  ['an unknown field', () => ({ ...validBody(), total_cents: 1 }), ''] as [string, () => unknown, string],
  [
    'an unknown field of a holder',
    () => ({ ...validBody(), holders: held.seatIds.map((seat_id) => ({ seat_id, name: 'Ana', vip: true })) }),
    'holders.0',
  ] as [string, () => unknown, string],
])('checkout: %s is 400 with the path of the wrong field, and creates no order', async (_, body, path) => {
  const { status, json } = await checkOut(body());
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(json.errors.map((error: { path: string }) => error.path)).toContain(path);
  expect([await ordersOf(), await office.reservation(held)]).toEqual([[], 'held']);
});

test.each([
  ['a NUL', 'Ana\u0000'],
  ['half of a surrogate pair', 'Ana\ud83d'],
])('checkout: a holder name with %s, which PostgreSQL cannot store, is 400', async (_, name) => {
  const { status, json } = await checkOut({ ...validBody(), holders: named(name) });
  expect([status, json.code, await ordersOf()]).toEqual([400, 'VALIDATION_FAILED', []]);
});

test('checkout: holder names are trimmed and stored in Unicode NFC, otherwise unchanged', async () => {
  const names = ['  Željka Šimić-Đurđević  ', 'Jose\u0301 O’Neill'];
  const holders = held.seatIds.map((seat_id, index) => ({ seat_id, name: names[index] }));
  expect((await checkOut({ ...validBody(), holders })).status).toBe(201);
  const [order] = await office.rows<{ holders: { name: string }[] }>(`select holders from orders where reservation_id = $1`, [
    held.id,
  ]);
  expect(order?.holders.map(({ name }) => name)).toEqual(['Željka Šimić-Đurđević', 'José O’Neill']);
});

test('checkout: holders may be listed in any order, and seat ids may be in capital letters', async () => {
  const holders = [...named('Ana')].reverse().map(({ seat_id, name }) => ({ seat_id: seat_id.toUpperCase(), name }));
  expect((await checkOut({ ...validBody(), holders })).status).toBe(201);
});

test('checkout: if several rules are broken, invalid fields are reported first, then an expired hold, then holders of wrong seats', async () => {
  await office.lapse(held);
  expect((await checkOut({ ...validBody(), email: 'ana' })).json.code).toBe('VALIDATION_FAILED');
  expect((await checkOut({ ...validBody(), holders: [{ seat_id: randomUUID(), name: 'Ana' }] })).json.code).toBe(
    'RESERVATION_EXPIRED',
  );
});
