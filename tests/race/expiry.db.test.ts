import { randomUUID } from 'node:crypto';
import { ExpireReservations } from '../../apps/monolith/src/purchase/hold/application/expire-reservations.ts';
import type { Settled } from '../../apps/monolith/src/purchase/settlement/application/settle-payment.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, seatsClaimedTwice, type Replicas } from './concurrent-buyers.ts';

const ROUNDS = 300;
/** So many rounds at a time, each over a seat of its own. */
const AT_ONCE = 15;

let replicas: Replicas;
let match: MatchOnSale;

beforeAll(async () => {
  replicas = await openReplicas();
  match = await putOnSale(replicas.offices[0].monolith, { max_tickets_per_fan: 20, sectors: [seated('East A', 20, 20)] });
});
afterAll(() => replicas.close());

interface Round {
  readonly settled: Settled;
  readonly stolen: boolean;
  readonly owner: string;
  readonly orderStatus: string;
}

/** A hold in checkout ends while its fan pays, another wants its seat, and the scheduler comes by: all within a few milliseconds. */
async function play(round: number, seatId: string): Promise<Round> {
  const [one, two] = round % 2 === 0 ? replicas.offices : ([replicas.offices[1], replicas.offices[0]] as const);
  const ordered = await one.ordered(await one.held(match, { seatIds: [seatId] }));
  // Its last moment is a few milliseconds away, before, amid and after the others: on the clock of the database.
  await one.rows(
    `with over as (update reservations set expires_at = now() + make_interval(secs => $2) where id = $1 returning id, expires_at)
     update seats set expires_at = over.expires_at from over where reservation_id = over.id`,
    [ordered.held.id, ((round % 9) - 2) / 400],
  );
  let settled: Settled = 'noted';
  let theft: TestAnswer | undefined;
  const acts = [
    async () => void (settled = await two.settle(one.report(ordered))),
    async () => void (theft = await one.hold(match, { as: randomUUID(), seatIds: [seatId] })),
    async () => void (await two.monolith.get(ExpireReservations).execute()),
  ];
  const first = round % acts.length;
  await Promise.all([...acts.slice(first), ...acts.slice(0, first)].map((act) => act()));
  const holder = (await one.holderOf(seatId))?.reservation_id ?? 'nobody';
  const stolen = theft?.status === 201;
  const owner = holder === ordered.held.id ? 'payer' : stolen && holder === theft?.json.id ? 'thief' : holder;
  return { settled, stolen, owner, orderStatus: (await one.order(ordered)).status };
}

test(`${ROUNDS} holds that end while they are paid, stolen and tidied up: one owner each, and no money without a seat`, async () => {
  const seatIds = await replicas.offices[0].seatIds(match);
  const before = await replicas.retries();
  const rounds: Round[] = [];
  for (let from = 0; from < ROUNDS; from += AT_ONCE) {
    rounds.push(
      ...(await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => play(from + index, seatIds[from + index] ?? '')))),
    );
  }
  const outcomes = rounds.map(({ settled, stolen, owner }) => `${settled}${stolen ? ', stolen' : ''}: ${owner}`);
  report('pay, steal, tidy up', {
    ...Object.fromEntries([...new Set(outcomes)].map((outcome) => [outcome, outcomes.filter((one) => one === outcome).length])),
    retries: (await replicas.retries()) - before,
  });
  for (const { settled, stolen, owner, orderStatus } of rounds) {
    expect([settled, orderStatus]).toEqual(settled === 'completed' ? ['completed', 'completed'] : ['refunded', 'refunded']);
    expect([stolen, owner]).toEqual(settled === 'completed' ? [false, 'payer'] : [true, 'thief']);
  }
  const [money] = await replicas.dataSource.query<{ captured: number; completed: number; refunded: number; refunds: number }[]>(
    `select (select count(*) from payment_inbox where outcome = 'succeeded')::int as captured,
            (select count(*) from orders where status = 'completed')::int as completed,
            (select count(*) from orders where status = 'refunded')::int as refunded,
            (select count(*) from outbox where destination = 'payments' and body ->> 'kind' = 'refund')::int as refunds`,
  );
  expect(money?.captured).toBe(ROUNDS);
  expect((money?.completed ?? 0) + (money?.refunded ?? 0)).toBe(ROUNDS);
  expect(money?.refunds).toBe(money?.refunded);
  // The times were moved by hand, so the thieves' holds are the only ones still alive.
  const twice = await replicas.dataSource.query(
    `select body ->> 'reservation_id' as id from outbox where event = 'reservation.expired' group by 1 having count(*) > 1`,
  );
  expect([twice, await seatsClaimedTwice(replicas.dataSource, match.id)]).toEqual([[], []]);
  const faults = await faultsOf(replicas.dataSource, match.id);
  expect(faults).toEqual([]);
}, 90_000);

test('10,000 abandoned holds are free at once, and tidied up within seconds', async () => {
  const office = replicas.offices[0];
  await office.monolith.get(ExpireReservations).execute();
  const crowd = await putOnSale(office.monolith, {
    sectors: [{ name: 'Terrace', kind: 'standing', price_cents: 900, capacity: 10_000 }],
  });
  await office.rows(
    `with made as (
       insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency, expires_at)
       select id, match_id, sector_id, gen_random_uuid(), 'held', array[id], 1, 'Terrace', 900, true, 900, 'EUR', now() - interval '1 second'
       from seats where match_id = $1 returning id
     ) update seats set status = 'held', reservation_id = made.id, expires_at = now() - interval '1 second' from made where seats.id = made.id`,
    [crowd.id],
  );
  const begunAt = performance.now();
  expect((await office.hold(crowd, { quantity: 4 })).status).toBe(201);
  const buyableMs = performance.now() - begunAt;
  const ended = await Promise.all(replicas.offices.map(({ monolith }) => monolith.get(ExpireReservations).execute()));
  const tidyMs = performance.now() - begunAt - buyableMs;
  report('10,000 abandoned holds', {
    buyable_ms: Math.round(buyableMs),
    rows_a_second: Math.round(10_000 / (tidyMs / 1000)),
    replicas: ended,
  });
  expect(ended.reduce((sum, n) => sum + n, 0)).toBe(10_000);
  expect(await office.seatRows(crowd)).toEqual({ available: 9996, held: 4 });
  expect(buyableMs).toBeLessThan(1000);
}, 60_000);
