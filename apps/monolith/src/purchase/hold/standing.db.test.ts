import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(() => opened.close());
beforeEach(async () => {
  const terrace = { name: 'Terrace', kind: 'standing', gate: 'N2', price_cents: 900, capacity: 6 };
  match = await putOnSale(office.monolith, { max_tickets_per_fan: 6, sectors: [terrace, seated('East A', 1, 4)] });
});

const terrace = () => match.sectors[0]?.id ?? '';
const listedSector = async () => (await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`)).json.items[0];

test('standing sector: the sector list has the number of free places, and the seat list is empty', async () => {
  await office.held(match, { quantity: 4 });
  const { json } = await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors/${terrace()}/seats`);
  expect([json.items, Number.isInteger(json.version)]).toEqual([[], true]);
  expect(await listedSector()).toEqual({
    id: terrace(),
    name: 'Terrace',
    kind: 'standing',
    gate: 'N2',
    wheelchair: false,
    price_cents: 900,
    currency: 'EUR',
    capacity: 6,
    available: 2,
  });
});

test('standing sector: a hold has an id for each place, no row and no number, and together: true', async () => {
  const { status, json } = await office.hold(match, { quantity: 4 });
  expect([status, json.together, json.total_cents, json.currency]).toEqual([201, true, 3600, 'EUR']);
  expect(json.seats.map(({ seat_id: _seatId, ...facts }: { seat_id: string }) => facts)).toEqual(
    Array.from({ length: 4 }, () => ({ sector: 'Terrace', row: null, number: null, price_cents: 900 })),
  );
  const ids = json.seats.map(({ seat_id }: { seat_id: string }) => seat_id);
  expect([...ids].sort()).toEqual([...new Set(ids)].sort());
});

test('standing sector: any free places can be held and count as together, wherever they are', async () => {
  const all = await office.held(match, { quantity: 6 });
  const freed = [0, 2, 5].map((index) => all.seatIds[index] ?? '');
  await office.rows(
    `update seats set status = 'available', reservation_id = null, expires_at = null where id = any($1::uuid[])`,
    [freed],
  );
  const { json } = await office.hold(match, { quantity: 3 });
  expect([json.together, json.seats.map(({ seat_id }: { seat_id: string }) => seat_id).sort()]).toEqual([true, freed.sort()]);
});

test('standing sector: places can be chosen by their ids, which a fan knows from the answer to an earlier hold', async () => {
  const first = await office.held(match, { quantity: 2 });
  await office.release(first);
  const again = await office.hold(match, { seatIds: first.seatIds });
  expect([again.status, again.json.together]).toEqual([201, true]);
  expect(again.json.seats.map(({ row, number }: { row: null; number: null }) => [row, number])).toEqual([
    [null, null],
    [null, null],
  ]);
});

test('standing sector: chosen places that are taken are answered with as many free places as the alternative', async () => {
  const taken = await office.held(match, { quantity: 3 });
  const { json } = await office.hold(match, { seatIds: taken.seatIds.slice(0, 2) });
  expect([json.code, json.available, json.other_sectors]).toEqual(['SEATS_UNAVAILABLE', 3, true]);
  expect(json.alternative).toHaveLength(2);
  expect((await office.hold(match, { seatIds: json.alternative })).status).toBe(201);
  const none = await office.hold(match, { seatIds: taken.seatIds });
  expect([none.json.available, none.json.alternative]).toEqual([1, undefined]);
});

test('standing sector: a standing place and a seat in one hold are refused, because they are in two sectors', async () => {
  const [place, seat] = [(await office.seatIds(match))[0] ?? '', (await office.seatIds(match, 1))[0] ?? ''];
  expect((await office.hold(match, { seatIds: [place, seat] })).json).toMatchObject({
    code: 'VALIDATION_FAILED',
    errors: [{ path: 'seat_ids' }],
  });
});

test('standing sector: of nine concurrent requests for six places, six are held and three are refused', async () => {
  const answers = await Promise.all(Array.from({ length: 9 }, () => office.hold(match, { quantity: 1 })));
  expect(answers.map(({ status, json }) => (status === 201 ? 201 : json.code)).sort()).toEqual([
    ...Array.from({ length: 6 }, () => 201),
    ...Array.from({ length: 3 }, () => 'ALL_SEATS_HELD'),
  ]);
  expect((await listedSector()).available).toBe(0);
});

test('standing sector: tickets of paid places have no row and no number', async () => {
  const ordered = await office.ordered(await office.held(match, { quantity: 2 }));
  await office.settle(office.report(ordered));
  const { json } = await office.monolith.call('GET', '/api/v1/tickets', { as: ordered.held.userId });
  expect(json.items.map(({ seat }: { seat: object }) => seat).reverse()).toEqual(
    ordered.held.seatIds.map((seat_id) => ({ seat_id, sector: 'Terrace', row: null, number: null })),
  );
});
