import { putOnSale, seated, type MatchOnSale } from '../testing/whole-monolith.ts';
import { ExpireReservations } from './application/expire-reservations.ts';
import { Reservations } from './application/ports.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from './testing/box-office.ts';

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

const sweep = () => office.monolith.get(ExpireReservations).execute();
const expiredEvents = () =>
  office.rows<{ id: string; n: number }>(
    `select body ->> 'reservation_id' as id, count(*)::int as n from outbox where event = 'reservation.expired' and body ->> 'match_id' = $1 group by 1`,
    [match.id],
  );

/** So many holds of two seats each that nobody came back to. */
async function abandon(count: number): Promise<void> {
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

test('holds whose time has come are ended, their seats freed, their orders closed, and it is told once', async () => {
  const held = await office.held(match, { quantity: 2 });
  const ordered = await office.ordered(await office.held(match));
  const alive = await office.held(match);
  await office.lapse(held);
  await office.lapse(ordered.held);
  expect(await sweep()).toBe(2);
  expect(await office.seatRows(match)).toEqual({ available: 999, held: 1 });
  const states = await office.rows<{ id: string; status: string }>(`select id, status from reservations where match_id = $1`, [
    match.id,
  ]);
  expect(new Map(states.map(({ id, status }) => [id, status]))).toEqual(
    new Map([
      [held.id, 'expired'],
      [ordered.held.id, 'expired'],
      [alive.id, 'held'],
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
  expect(await sweep()).toBe(0);
  expect(await expiredEvents()).toHaveLength(2);
});

test('450 abandoned holds go in batches of 200, and none is left', async () => {
  await abandon(450);
  const reservations = office.monolith.get(Reservations);
  expect(await reservations.expireDue(200)).toEqual({ looked: 200, ended: 200 });
  expect(await sweep()).toBe(250);
  expect(await office.seatRows(match)).toEqual({ available: 1000 });
});

test('three replicas that tidy up at once end each hold once and tell of it once', async () => {
  await abandon(500);
  const ended = await Promise.all([sweep(), sweep(), sweep()]);
  await sweep();
  expect(ended.reduce((sum, n) => sum + n, 0)).toBe(500);
  const events = await expiredEvents();
  expect([events.length, events.every(({ n }) => n === 1)]).toEqual([500, true]);
  expect(await office.seatRows(match)).toEqual({ available: 1000 });
});

test('seats that somebody else has taken meanwhile stay theirs', async () => {
  const over = await office.held(match, { quantity: 4 });
  await office.lapse(over);
  const next = await office.held(match, { seatIds: over.seatIds.slice(0, 2) });
  const paid = await office.ordered(await office.held(match, { seatIds: over.seatIds.slice(2, 3) }));
  await office.settle(office.news(paid));
  expect(await sweep()).toBe(1);
  const holders = await Promise.all(over.seatIds.map((seatId) => office.holderOf(seatId)));
  expect(holders).toEqual([
    { status: 'held', reservation_id: next.id },
    { status: 'held', reservation_id: next.id },
    { status: 'sold', reservation_id: paid.held.id },
    { status: 'available', reservation_id: null },
  ]);
});

test('what was paid or given back in time is looked at once and left as it is', async () => {
  const paid = await office.ordered(await office.held(match));
  await office.settle(office.news(paid));
  const released = await office.held(match);
  await office.release(released);
  for (const { id } of [paid.held, released]) await office.lapse({ id });
  const reservations = office.monolith.get(Reservations);
  expect(await reservations.expireDue(200)).toEqual({ looked: 2, ended: 0 });
  expect(await reservations.expireDue(200)).toEqual({ looked: 0, ended: 0 });
  expect([await office.reservation(paid.held), await office.reservation(released)]).toEqual(['completed', 'released']);
  expect(await expiredEvents()).toEqual([]);
});

test('a hold that is being decided about is left for the next round', async () => {
  const held = await office.held(match);
  await office.lapse(held);
  const runner = office.monolith.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`select 1 from reservations where id = $1 for update`, [held.id]);
  expect(await sweep()).toBe(0);
  await runner.rollbackTransaction();
  await runner.release();
  expect(await sweep()).toBe(1);
});
