import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { ExpireReservations } from './application/expire-reservations.ts';
import { Reservations } from './application/reservation-ports.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
});
afterAll(() => opened.close());
beforeEach(async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 20, 50)] });
});

const runExpiry = () => office.monolith.get(ExpireReservations).execute();
const expiredEvents = () =>
  office.rows<{ id: string; n: number }>(
    `select body ->> 'reservation_id' as id, count(*)::int as n from outbox where event = 'reservation.expired' and body ->> 'match_id' = $1 group by 1`,
    [match.id],
  );

/** Inserts expired holds of two seats each. */
async function insertExpiredHolds(count: number): Promise<void> {
  const seats = await office.seatIds(match);
  await office.rows(
    `with made as (
       insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency, expires_at)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), 'held', array_agg(s.id), 2, 'East A', 2500, true, 5000, 'EUR', now() - interval '1 second'
       from unnest($3::uuid[]) with ordinality as s(id, i) group by (s.i + 1) / 2
       returning id, seat_ids
     ) update seats set status = 'held', reservation_id = made.id, expires_at = now() - interval '1 second' from made where seats.id = any(made.seat_ids)`,
    [match.id, match.sectors[0]?.id, seats.slice(0, count * 2)],
  );
}

test('expiry sweeper: ends expired holds, frees their seats, expires their orders and writes one event for each hold', async () => {
  const held = await office.held(match, { quantity: 2 });
  const ordered = await office.ordered(await office.held(match));
  const living = await office.held(match);
  await office.lapse(held);
  await office.lapse(ordered.held);
  expect(await runExpiry()).toBe(2);
  expect(await office.seatRows(match)).toEqual({ available: 999, held: 1 });
  const states = await office.rows<{ id: string; status: string }>(`select id, status from reservations where match_id = $1`, [
    match.id,
  ]);
  expect(new Map(states.map(({ id, status }) => [id, status]))).toEqual(
    new Map([
      [held.id, 'expired'],
      [ordered.held.id, 'expired'],
      [living.id, 'held'],
    ]),
  );
  const order = await office.order(ordered);
  expect([order.status, order.timeline.at(-1).event]).toEqual(['expired', 'expired']);
  expect(await office.outbox(held.id)).toEqual([
    {
      destination: 'events',
      event: 'reservation.expired',
      body: {
        event: 'reservation.expired',
        reservation_id: held.id,
        match_id: match.id,
        sector_id: match.sectors[0]?.id,
        user_id: held.userId,
      },
    },
  ]);
  expect(await runExpiry()).toBe(0);
  expect(await expiredEvents()).toHaveLength(2);
});

test('expiry sweeper: 450 expired holds are ended in batches of 200, all in one run', async () => {
  await insertExpiredHolds(450);
  const reservations = office.monolith.get(Reservations);
  expect(await reservations.expireDueReservations(200)).toEqual({ examined: 200, ended: 200, next: expect.anything() });
  expect(await runExpiry()).toBe(250);
  expect(await office.seatRows(match)).toEqual({ available: 1000 });
});

test('expiry sweepers of three replicas at once: each hold is ended once, with one event', async () => {
  await insertExpiredHolds(500);
  const ended = await Promise.all([runExpiry(), runExpiry(), runExpiry()]);
  await runExpiry();
  expect(ended.reduce((sum, n) => sum + n, 0)).toBe(500);
  const events = await expiredEvents();
  expect([events.length, events.every(({ n }) => n === 1)]).toEqual([500, true]);
  expect(await office.seatRows(match)).toEqual({ available: 1000 });
});

test('expiry sweeper: seats of an expired hold that another fan holds or bought meanwhile keep the new owner', async () => {
  const expired = await office.held(match, { quantity: 4 });
  await office.lapse(expired);
  const next = await office.held(match, { seatIds: expired.seatIds.slice(0, 2) });
  const paid = await office.ordered(await office.held(match, { seatIds: expired.seatIds.slice(2, 3) }));
  await office.settle(office.report(paid));
  expect(await runExpiry()).toBe(1);
  const holders = await Promise.all(expired.seatIds.map((seatId) => office.holderOf(seatId)));
  expect(holders).toEqual([
    { status: 'held', reservation_id: next.id },
    { status: 'held', reservation_id: next.id },
    { status: 'sold', reservation_id: paid.held.id },
    { status: 'available', reservation_id: null },
  ]);
});

test('expiry sweeper: a hold that was paid or released in time is examined by one run only, and stays as it is', async () => {
  const paid = await office.ordered(await office.held(match));
  await office.settle(office.report(paid));
  const released = await office.held(match);
  await office.release(released);
  for (const { id } of [paid.held, released]) await office.lapse({ id });
  const reservations = office.monolith.get(Reservations);
  expect(await reservations.expireDueReservations(200)).toEqual({ examined: 2, ended: 0 });
  expect(await reservations.expireDueReservations(200)).toEqual({ examined: 0, ended: 0 });
  expect([await office.reservation(paid.held), await office.reservation(released)]).toEqual(['completed', 'released']);
  expect(await expiredEvents()).toEqual([]);
});

test('expiry sweeper: a hold whose reservation is locked is left for the next run', async () => {
  const held = await office.held(match);
  await office.lapse(held);
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`select 1 from reservations where id = $1 for update`, [held.id]);
  expect(await runExpiry()).toBe(0);
  await runner.rollbackTransaction();
  await runner.release();
  expect(await runExpiry()).toBe(1);
});

/** Locks this row in another session. Returns the function that releases the lock. */
async function lockInOtherSession(lock: string, id: string | undefined): Promise<() => Promise<void>> {
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(lock, [id]);
  return async () => {
    await runner.rollbackTransaction();
    await runner.release();
  };
}

/** Result of a run of the expiry sweeper, or 'waits' if it has not ended after 6 s: then it waits for a lock. */
const runExpiryOrTimeOut = (): Promise<number | string> =>
  Promise.race([runExpiry(), new Promise<string>((resolve) => setTimeout(() => resolve('waits'), 6000).unref())]);

describe('expiry sweeper while another session has locked a row', () => {
  test.each([
    ['seat', 'select 1 from seats where reservation_id = $1 limit 1 for update'],
    ['order', 'select 1 from orders where reservation_id = $1 for update'],
    ['reservation', 'select 1 from reservations where id = $1 for update'],
  ])(
    'with a locked %s row, the hold of this row stays unchanged until the next run; four other holds are ended at once',
    async (_, lock) => {
      const ordered = await Promise.all(
        Array.from({ length: 5 }, async () => office.ordered(await office.held(match, { quantity: 3 }))),
      );
      for (const { held } of ordered) await office.lapse(held);
      const [lockedHold, ...otherHolds] = ordered.map(({ held }) => held);
      const unlock = await lockInOtherSession(lock, lockedHold?.id);
      const ended = await runExpiryOrTimeOut();
      const seatsDuring = await office.seatRows(match);
      const statusesOf = () => Promise.all(ordered.map(async (order) => (await office.order(order)).status));
      const ordersDuring = await statusesOf();
      const eventsDuring = (await expiredEvents()).map(({ id }) => id).sort();
      await unlock();
      expect([ended, seatsDuring]).toEqual([4, { available: 997, held: 3 }]);
      expect(ordersDuring).toEqual(['awaiting_payment', 'expired', 'expired', 'expired', 'expired']);
      expect(eventsDuring).toEqual(otherHolds.map(({ id }) => id).sort());
      expect(await runExpiry()).toBe(1);
      expect(await office.seatRows(match)).toEqual({ available: 1000 });
      expect(await statusesOf()).toEqual(Array.from({ length: 5 }, () => 'expired'));
      expect((await expiredEvents()).map(({ n }) => n)).toEqual([1, 1, 1, 1, 1]);
    },
  );
});

test('expiry sweeper: 250 holds with a locked seat do not delay the five holds that expired after them: these are ended', async () => {
  await insertExpiredHolds(255);
  await office.rows(
    `update reservations set expires_at = now() where id in (select id from reservations where match_id = $1 order by id desc limit 5)`,
    [match.id],
  );
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(
    `select 1 from seats where reservation_id in
       (select id from reservations where match_id = $1 order by expires_at limit 250) for update`,
    [match.id],
  );
  const ended = await runExpiryOrTimeOut();
  await runner.rollbackTransaction();
  await runner.release();
  expect(ended).toBe(5);
  expect(await runExpiry()).toBe(250);
  expect((await expiredEvents()).every(({ n }) => n === 1)).toBe(true);
  expect(await office.seatRows(match)).toEqual({ available: 1000 });
});
