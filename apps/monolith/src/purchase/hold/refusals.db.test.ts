import { randomUUID } from 'node:crypto';
import { newKey } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';

// What the answer to a refused hold request says about its sector and the other sectors, and whether a later request with the same
// idempotency key may succeed.

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(() => opened.close());
beforeEach(async () => {
  match = await putOnSale(office.monolith, {
    max_tickets_per_fan: 20,
    sectors: [seated('East A', 2, 8), seated('West B', 1, 3)],
  });
});

const sell = async (quantity: number, sector: number, inMatch = match) =>
  office.settle(office.report(await office.ordered(await office.held(inMatch, { sector, quantity }))));
const holdSeats = (quantity: number, sector: number) => office.held(match, { sector, quantity });

describe('chosen seats that are taken (SEATS_UNAVAILABLE)', () => {
  test('are answered with the nearest block of as many free neighbouring seats as alternative, which can then be held', async () => {
    const row = await office.seatIds(match);
    const seats = (from: number, to: number) => row.slice(from - 1, to);
    await office.held(match, { seatIds: seats(5, 5) });
    const { json } = await office.hold(match, { seatIds: seats(4, 5) });
    expect([json.code, json.seat_ids, json.alternative]).toEqual(['SEATS_UNAVAILABLE', seats(5, 5), seats(3, 4)]);
    expect((await office.hold(match, { seatIds: json.alternative })).status).toBe(201);
  });

  test('are answered with a block of another row as alternative when it is nearer than the free seats of their own row', async () => {
    const seatIds = await office.seatIds(match);
    await office.held(match, { seatIds: seatIds.slice(2, 8) });
    const { json } = await office.hold(match, { seatIds: seatIds.slice(6, 8) });
    expect([json.alternative, json.available]).toEqual([seatIds.slice(14, 16), 10]);
  });

  test('are answered without an alternative, but with the number of free seats, when no block of neighbouring seats is free', async () => {
    const seatIds = await office.seatIds(match, 1);
    await office.held(match, { seatIds: seatIds.slice(1, 2) });
    const { json } = await office.hold(match, { seatIds: seatIds.slice(0, 2) });
    expect(json).toMatchObject({ code: 'SEATS_UNAVAILABLE', sector_id: match.sectors[1]?.id, available: 2, other_sectors: true });
    expect(json).not.toHaveProperty('alternative');
  });

  test('are not answered with an alternative that contains a seat locked by another transaction', async () => {
    const seatIds = await office.seatIds(match, 1);
    await office.held(match, { seatIds: seatIds.slice(0, 1) });
    const runner = office.monolith.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`select 1 from seats where id = $1 for update`, [seatIds[1]]);
    const { json } = await office.hold(match, { seatIds: seatIds.slice(0, 2) });
    await runner.rollbackTransaction();
    await runner.release();
    expect([json.code, json.seat_ids, json.alternative]).toEqual(['SEATS_UNAVAILABLE', seatIds.slice(0, 1), undefined]);
  });

  test('are answered with seats of an expired hold as the alternative', async () => {
    const seatIds = await office.seatIds(match, 1);
    const expired = await office.held(match, { seatIds: seatIds.slice(1, 3) });
    const taken = await office.held(match, { seatIds: seatIds.slice(0, 1) });
    await office.lapse(expired);
    const { json } = await office.hold(match, { seatIds: taken.seatIds });
    expect([json.alternative, json.available]).toEqual([seatIds.slice(1, 2), 2]);
  });
});

/** For each error code: how to cause it in the sector West B, which has three seats; the request; and the expected fields. */
const refusals: [string, () => Promise<unknown>, object, object][] = [
  ['SEATS_UNAVAILABLE', () => Promise.resolve(), { quantity: 4 }, { available: 3, seat_ids: [] }],
  ['ALL_SEATS_HELD', () => holdSeats(3, 1), {}, { available: 0 }],
  ['SOLD_OUT', () => sell(3, 1), {}, { available: 0 }],
];

describe.each(refusals)('a hold refused with %s', (code, prepare, request, expected) => {
  const otherSector: [string, () => Promise<unknown>, boolean][] = [
    ['free', () => Promise.resolve(), true],
    ['held', () => holdSeats(16, 0), false],
    ['sold', () => sell(16, 0), false],
  ];
  test.each(otherSector)(
    'says in other_sectors whether the other sector has free seats: they are %s',
    async (_, prepareOther, otherSectors) => {
      await prepare();
      await prepareOther();
      const { status, json } = await office.hold(match, { sector: 1, ...request });
      expect([status, json.code]).toEqual([409, code]);
      expect(json).toMatchObject({ ...expected, sector_id: match.sectors[1]?.id, other_sectors: otherSectors });
    },
  );

  test('does not use up the idempotency key: the same request is held later, if it is possible then', async () => {
    const options = { as: randomUUID(), key: newKey(), sector: 1, ...request };
    await prepare();
    expect((await office.hold(match, options)).json.code).toBe(code);
    await office.rows(`update seats set status = 'available', reservation_id = null, expires_at = null where match_id = $1`, [
      match.id,
    ]);
    const again = await office.hold(match, options);
    const isPossible = code !== 'SEATS_UNAVAILABLE';
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([isPossible ? 201 : 409, undefined]);
  });
});

test('ALL_SEATS_HELD has the earliest end of all holds in the sector, also if that hold has an order', async () => {
  const [first, last] = [await office.held(match, { sector: 1, quantity: 2 }), await office.held(match, { sector: 1 })];
  for (const [id, seconds] of [
    [first.id, 300],
    [last.id, 200],
  ]) {
    await office.rows(
      `with r as (update reservations set expires_at = date_trunc('milliseconds', now()) + make_interval(secs => $2) where id = $1 returning id, expires_at)
       update seats s set expires_at = r.expires_at from r where s.reservation_id = r.id`,
      [id, seconds],
    );
  }
  await office.ordered(last);
  const { json: next } = await office.monolith.call('GET', `/api/v1/reservations/${last.id}`, { as: last.userId });
  const { json, headers } = await office.hold(match, { sector: 1 });
  expect([json.code, json.next_expiry_at, headers['retry-after']]).toEqual(['ALL_SEATS_HELD', next.expires_at, undefined]);
});

test('a sale with the status sold_out: SOLD_OUT also for a sector with free seats', async () => {
  await office.rows(`update matches set sale_status = 'sold_out' where id = $1`, [match.id]);
  expect((await office.hold(match)).json).toMatchObject({ code: 'SOLD_OUT', available: 0, other_sectors: false });
});

test('SEATS_BUSY has Retry-After, the sector and its free seats, and does not use up the idempotency key', async () => {
  const [as, key, seatIds] = [randomUUID(), newKey(), (await office.seatIds(match, 1)).slice(0, 1)];
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`select 1 from seats where id = $1 for update`, [seatIds[0]]);
  const busy = await office.hold(match, { as, key, seatIds });
  await runner.rollbackTransaction();
  await runner.release();
  expect([busy.json.code, busy.headers['retry-after']]).toEqual(['SEATS_BUSY', '1']);
  expect(busy.json).toMatchObject({ sector_id: match.sectors[1]?.id, seat_ids: seatIds, available: 3, other_sectors: true });
  expect((await office.hold(match, { as, key, seatIds })).status).toBe(201);
});

test('the ticket limit is checked before the seats: a request above the limit in a sold-out sector is TICKET_LIMIT_REACHED', async () => {
  const strict = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 1, 2)] });
  await sell(2, 0, strict);
  expect((await office.hold(strict, { quantity: 3 })).json).toMatchObject({ code: 'TICKET_LIMIT_REACHED', limit: 2, rest: 2 });
  expect((await office.hold(strict, { quantity: 2 })).json.code).toBe('SOLD_OUT');
});

test('TICKET_LIMIT_REACHED is stored under the idempotency key: the same key gets it again, also when the limit would allow the hold', async () => {
  const [as, key] = [randomUUID(), newKey()];
  const held = await office.held(match, { as, quantity: 16 });
  const first = await office.hold(match, { as, key, sector: 1, quantity: 5 });
  expect(first.json).toMatchObject({ code: 'TICKET_LIMIT_REACHED', limit: 20, rest: 4 });
  await office.release(held);
  const again = await office.hold(match, { as, key, sector: 1, quantity: 5 });
  expect([again.status, again.json.code, again.headers['idempotency-replayed']]).toEqual([409, 'TICKET_LIMIT_REACHED', 'true']);
});

test('a refused hold changes no row', async () => {
  await sell(3, 1);
  const held = await office.held(match, { quantity: 1 });
  const tables = ['reservations', 'fan_seats', 'outbox', 'idempotency_keys'];
  const state = () =>
    Promise.all([office.seatRows(match), ...tables.map((table) => office.rows(`select * from ${table} order by 1, 2`))]);
  const before = await state();
  for (const request of [
    { sector: 1 },
    { sector: 1, quantity: 4 },
    { seatIds: held.seatIds },
    { quantity: 20 },
    { quantity: 16 },
  ]) {
    expect((await office.hold(match, request)).status).toBe(409);
  }
  expect(await state()).toEqual(before);
});
