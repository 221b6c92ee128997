import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';

// What a checkout has to say about who will sit there and where the tickets go.

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
const good = () => ({ holders: named('Ana'), email: 'ana@example.hr' });
const ordersOf = () => office.rows(`select 1 from orders where reservation_id = $1`, [held.id]);

const BAD_NAMES: [string, unknown][] = [
  ['nothing', ''],
  ['spaces', '   '],
  ['a number', 7],
  ['101 characters', 'x'.repeat(101)],
  ['a line break', 'Ana\nBcc: x@example.hr'],
  ['a control character of the second set', 'Ana\u0085'],
  ['a mark that turns the direction', 'Ana\u202egnp'],
  ['a hundred marks on one letter', `A${'\u0301'.repeat(100)}`],
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
    `a name that is ${what}`,
    () => ({ ...good(), holders: named(name) }),
    'holders.0.name',
  ]),
  ...BAD_EMAILS.map((email): [string, () => unknown, string] => [
    `the address ${JSON.stringify(email).slice(0, 40)}`,
    () => ({ ...good(), email }),
    'email',
  ]),
  ['no address', () => ({ holders: named('Ana') }), 'email'] as [string, () => unknown, string],
  ['no holders', () => ({ email: 'ana@example.hr' }), 'holders'] as [string, () => unknown, string],
  ['a holder without a seat', () => ({ ...good(), holders: [{ name: 'Ana' }] }), 'holders.0.seat_id'] as [
    string,
    () => unknown,
    string,
  ],
  [
    'a holder of 21 seats',
    () => ({ ...good(), holders: Array.from({ length: 21 }, () => ({ seat_id: randomUUID(), name: 'Ana' })) }),
    'holders',
  ] as [string, () => unknown, string],
  ['a field nobody knows', () => ({ ...good(), total_cents: 1 }), ''] as [string, () => unknown, string],
  [
    'a field of a holder nobody knows',
    () => ({ ...good(), holders: held.seatIds.map((seat_id) => ({ seat_id, name: 'Ana', vip: true })) }),
    'holders.0',
  ] as [string, () => unknown, string],
])('%s is refused, and the answer says where', async (_, body, path) => {
  const { status, json } = await checkOut(body());
  expect([status, json.code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(json.errors.map((error: { path: string }) => error.path)).toContain(path);
  expect([await ordersOf(), await office.reservation(held)]).toEqual([[], 'held']);
});

test.each([
  ['a NUL', 'Ana\u0000'],
  ['half of a surrogate pair', 'Ana\ud83d'],
])('a name with %s makes no body that could be read', async (_, name) => {
  const { status, json } = await checkOut({ ...good(), holders: named(name) });
  expect([status, json.code, await ordersOf()]).toEqual([400, 'VALIDATION_FAILED', []]);
});

test('names are kept as they are written, in one spelling and without the spaces around them', async () => {
  const names = ['  Željka Šimić-Đurđević  ', 'Jose\u0301 O’Neill'];
  const holders = held.seatIds.map((seat_id, index) => ({ seat_id, name: names[index] }));
  expect((await checkOut({ ...good(), holders })).status).toBe(201);
  const [order] = await office.rows<{ holders: { name: string }[] }>(`select holders from orders where reservation_id = $1`, [
    held.id,
  ]);
  expect(order?.holders.map(({ name }) => name)).toEqual(['Željka Šimić-Đurđević', 'José O’Neill']);
});

test('holders may come in another order than the seats, and ids in capitals', async () => {
  const holders = [...named('Ana')].reverse().map(({ seat_id, name }) => ({ seat_id: seat_id.toUpperCase(), name }));
  expect((await checkOut({ ...good(), holders })).status).toBe(201);
});

test('what is wrong with the fields is said before that the hold is over, and that before whose seats they are', async () => {
  await office.lapse(held);
  expect((await checkOut({ ...good(), email: 'ana' })).json.code).toBe('VALIDATION_FAILED');
  expect((await checkOut({ ...good(), holders: [{ seat_id: randomUUID(), name: 'Ana' }] })).json.code).toBe(
    'RESERVATION_EXPIRED',
  );
});
