import { randomUUID } from 'node:crypto';
import { newKey } from '../../testing/test-app.ts';
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
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 2, 5), seated('West B', 1, 3)] });
});

const codes = async (holds: Promise<{ status: number; json: { code?: string } }>[]) =>
  (await Promise.all(holds)).map(({ status, json }) => (status === 201 ? 201 : json.code));

/** Does `work` while another session has locked these seats. */
async function whileLocked<T>(seatIds: readonly string[], work: () => Promise<T>): Promise<T> {
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`select 1 from seats where id = any($1::uuid[]) for update`, [seatIds]);
  try {
    return await work();
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

describe('holding chosen seats', () => {
  test('holds all chosen seats for ten minutes, and no other fan can hold them', async () => {
    const chosen = (await office.seatIds(match)).slice(0, 3);
    const { status, json, headers } = await office.hold(match, { seatIds: chosen });
    expect([status, json.status, json.total_cents, json.together]).toEqual([201, 'held', 7500, true]);
    expect(headers.location).toBe(`/api/v1/reservations/${json.id}`);
    expect(json.seats.map(({ seat_id }: { seat_id: string }) => seat_id).sort()).toEqual([...chosen].sort());
    const lastsSeconds = (new Date(json.expires_at).getTime() - Date.now()) / 1000;
    expect(lastsSeconds).toBeGreaterThan(590);
    expect(lastsSeconds).toBeLessThanOrEqual(600);
    expect(await office.seatRows(match)).toEqual({ held: 3, available: 10 });
    const { json: map } = await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors/${match.sectors[0]?.id}/seats`);
    expect(map.items.filter((seat: { status: string }) => seat.status === 'held')).toHaveLength(3);
  });

  test('holds all or none: one held seat refuses the request with SEATS_UNAVAILABLE, and the answer names that seat', async () => {
    const [first = '', second = '', third = ''] = await office.seatIds(match);
    await office.held(match, { seatIds: [second] });
    const { status, json } = await office.hold(match, { seatIds: [first, second, third] });
    expect([status, json.code, json.seat_ids, json.available, json.other_sectors]).toEqual([
      409,
      'SEATS_UNAVAILABLE',
      [second],
      9,
      true,
    ]);
    expect(json.alternative).toHaveLength(3);
    expect(await office.seatRows(match)).toEqual({ held: 1, available: 12 });
  });

  test('refuses a blocked seat with SEATS_UNAVAILABLE', async () => {
    const [first = ''] = await office.seatIds(match);
    await office.block([first]);
    expect((await office.hold(match, { seatIds: [first] })).json).toMatchObject({ code: 'SEATS_UNAVAILABLE', seat_ids: [first] });
  });

  test('answers SEATS_BUSY, not SEATS_UNAVAILABLE, for free seats that another transaction has locked', async () => {
    const seatIds = await office.seatIds(match);
    await whileLocked(seatIds, async () => {
      const { json, headers } = await office.hold(match, { seatIds: seatIds.slice(0, 2) });
      expect([json.code, [...json.seat_ids].sort(), headers['retry-after']]).toEqual([
        'SEATS_BUSY',
        seatIds.slice(0, 2).sort(),
        '1',
      ]);
      expect((await office.hold(match, { quantity: 2 })).json).toMatchObject({ code: 'SEATS_BUSY', other_sectors: true });
    });
    expect((await office.hold(match, { quantity: 2 })).status).toBe(201);
  });

  test('refuses seats of two sectors with VALIDATION_FAILED, and unknown seats and seats of another match with NOT_FOUND', async () => {
    const [east = ''] = await office.seatIds(match);
    const [west = ''] = await office.seatIds(match, 1);
    expect((await office.hold(match, { seatIds: [east, west] })).json).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'seat_ids' }],
    });
    const other = await putOnSale(office.monolith);
    expect((await office.hold(other, { seatIds: [east] })).json.code).toBe('NOT_FOUND');
    expect((await office.hold(match, { seatIds: [randomUUID()] })).json.code).toBe('NOT_FOUND');
    expect((await office.hold({ ...match, sectors: other.sectors }, { quantity: 1 })).json.code).toBe('NOT_FOUND');
  });
});

describe('holding the best seats', () => {
  test('holds neighbouring seats in one row', async () => {
    const { seats, status } = await office.held(match, { quantity: 3 });
    expect(status).toBe('held');
    expect(new Set(seats.map(({ row }) => row)).size).toBe(1);
    const numbers = seats.map(({ number }) => number ?? 0);
    expect(numbers).toEqual([numbers[0], (numbers[0] ?? 0) + 1, (numbers[0] ?? 0) + 2]);
  });

  test('holds separate seats only when none are together, and answers together: false', async () => {
    const seatIds = await office.seatIds(match, 1);
    await office.held(match, { seatIds: seatIds.slice(1, 2) });
    const { json } = await office.hold(match, { sector: 1, quantity: 2 });
    expect([json.together, json.seats.map(({ number }: { number: number }) => number)]).toEqual([false, [1, 3]]);
  });

  test('with fewer free seats than requested: SEATS_UNAVAILABLE with the number of free seats', async () => {
    const { json } = await office.hold(match, { sector: 1, quantity: 4 });
    expect(json).toMatchObject({ code: 'SEATS_UNAVAILABLE', available: 3, seat_ids: [], other_sectors: true });
  });

  test('with all seats held: ALL_SEATS_HELD with the time at which the first of the holds ends', async () => {
    const held = await office.held(match, { sector: 1, quantity: 3 });
    const { json } = await office.hold(match, { sector: 1 });
    expect(json).toMatchObject({ code: 'ALL_SEATS_HELD', next_expiry_at: held.expires_at, other_sectors: true });
  });

  test('with all seats sold: SOLD_OUT', async () => {
    const ordered = await office.ordered(await office.held(match, { sector: 1, quantity: 3 }));
    await office.settle(office.report(ordered));
    expect((await office.hold(match, { sector: 1 })).json).toMatchObject({ code: 'SOLD_OUT', available: 0, other_sectors: true });
  });

  test('holds standing places without row and number', async () => {
    const standing = await putOnSale(office.monolith, {
      sectors: [{ name: 'Terrace', kind: 'standing', price_cents: 900, capacity: 5 }],
    });
    const { json } = await office.hold(standing, { quantity: 4 });
    expect(
      json.seats.map(({ row, number, sector }: { row: null; number: null; sector: string }) => [row, number, sector]),
    ).toEqual(Array.from({ length: 4 }, () => [null, null, 'Terrace']));
    expect((await office.hold(standing, { quantity: 2 })).json).toMatchObject({
      code: 'SEATS_UNAVAILABLE',
      available: 1,
      other_sectors: false,
    });
  });
});

describe('an expired hold', () => {
  test('is free for every reader at once, before the expiry sweeper has run', async () => {
    const first = await office.held(match, { sector: 1, quantity: 3 });
    await office.lapse(first);
    const { json: list } = await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`);
    expect(list.items[1].available).toBe(3);
    expect(await office.reservation(first)).toBe('expired');
    const second = await office.held(match, { seatIds: first.seatIds });
    expect(await office.holderOf(first.seatIds[0] ?? '')).toEqual({ status: 'held', reservation_id: second.id });
    expect(await office.reservation(first)).toBe('expired');
  });
});

describe("a fan's ticket limit", () => {
  test('counts seats that are held, ordered and bought, not expired or released ones', async () => {
    const as = randomUUID();
    const bought = await office.ordered(await office.held(match, { as, quantity: 1 }));
    await office.settle(office.report(bought));
    await office.ordered(await office.held(match, { as, quantity: 1 }));
    const held = await office.held(match, { as, quantity: 1 });
    expect((await office.hold(match, { as, quantity: 2 })).json).toMatchObject({
      code: 'TICKET_LIMIT_REACHED',
      limit: 4,
      rest: 1,
    });
    await office.lapse(held);
    expect((await office.hold(match, { as, quantity: 3 })).json).toMatchObject({ code: 'TICKET_LIMIT_REACHED', rest: 2 });
    const again = await office.held(match, { as, quantity: 2 });
    await office.release(again);
    expect((await office.hold(match, { as, quantity: 2 })).status).toBe(201);
  });

  test('is kept when a fan sends 12 requests at once', async () => {
    const as = randomUUID();
    const answers = await codes(Array.from({ length: 12 }, () => office.hold(match, { as, quantity: 1 })));
    expect(answers.filter((code) => code === 201)).toHaveLength(4);
    expect(new Set(answers)).toEqual(new Set([201, 'TICKET_LIMIT_REACHED']));
  });

  test('does not count other matches or other fans', async () => {
    const as = randomUUID();
    await office.held(match, { as, quantity: 4 });
    const other = await putOnSale(office.monolith);
    expect(await codes([office.hold(other, { as, quantity: 4 }), office.hold(match, { quantity: 4 })])).toEqual([201, 201]);
  });
});

describe('a hold in a sale that is not open', () => {
  test.each([
    ['scheduled', false, { code: 'SALE_NOT_OPEN', sale_status: 'scheduled' }],
    ['paused', false, { code: 'SALE_NOT_OPEN', sale_status: 'paused' }],
    ['paused', true, { code: 'PURCHASE_WINDOW_REQUIRED' }],
    ['sold_out', false, { code: 'SOLD_OUT' }],
    ['closed', true, { code: 'SALE_NOT_OPEN', sale_status: 'closed' }],
  ])('sale status %s, waiting room %s: is refused although seats are free', async (status, queueRequired, refusal) => {
    await office.rows(`update matches set sale_status = $2, queue_required = $3, opens_at = null where id = $1`, [
      match.id,
      status,
      queueRequired,
    ]);
    expect((await office.hold(match, { quantity: 1 })).json).toMatchObject(refusal);
  });

  test('is refused with the opening time of the sale', async () => {
    const opens_at = new Date(Date.now() + 86_400_000).toISOString();
    const tomorrow = await putOnSale(office.monolith, { opens_at });
    expect((await office.hold(tomorrow)).json).toMatchObject({ code: 'SALE_NOT_OPEN', opens_at });
  });
});

test('a hold refused with ALL_SEATS_HELD can be repeated with its idempotency key; after a success every repeat gets the same answer', async () => {
  const as = randomUUID();
  const key = newKey();
  const otherHold = await office.held(match, { sector: 1, quantity: 3 });
  expect((await office.hold(match, { as, key, sector: 1 })).json.code).toBe('ALL_SEATS_HELD');
  await office.release(otherHold);
  const held = await office.hold(match, { as, key, sector: 1 });
  expect([held.status, held.headers['idempotency-replayed']]).toEqual([201, undefined]);
  const again = await office.hold(match, { as, key, sector: 1 });
  expect([again.status, again.headers['idempotency-replayed'], again.text]).toEqual([201, 'true', held.text]);
});
