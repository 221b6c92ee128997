import { runReadCommitted } from '#platform/postgres/read-committed';
import type { Transaction } from '#application/transaction-manager';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import { randomUUID } from 'node:crypto';
import { PlacesNotFree, type PlaceMove } from '../../apps/monolith/src/purchase/quota-places.api.ts';
import { SeatChangeBroadcast } from '../../apps/monolith/src/purchase/hold/outbound/seat-change-broadcast.ts';
import { isFreeForOwner, MOVE_PLACES_SQL } from '../../apps/monolith/src/purchase/quota-places/quota-places.sql.ts';
import { QuotaOffice } from '../../apps/monolith/src/purchase/testing/quota-office.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { buyersOf, faultsOf, openReplicas, quantile, report, tally, timed, type Replicas } from './concurrent-buyers.ts';

const PLACES = 8000;
const MAX_MOVE_MS = 2000;

let replicas: Replicas;
let quotas: QuotaOffice;

beforeAll(async () => {
  replicas = await openReplicas();
  quotas = new QuotaOffice(replicas.offices[0]);
});
afterAll(() => replicas.close());

const officeOf = (index: number) => replicas.offices[index % 2 === 0 ? 0 : 1];

/** A quota of no places. */
async function emptyQuota(match: MatchOnSale): Promise<string> {
  const id = randomUUID();
  await replicas.dataSource.query(
    `insert into quotas (id, match_id, depth, name, kind) values ($1, $2, 1, 'Fan club', 'fan_group')`,
    [id, match.id],
  );
  return id;
}

/** Places that a row of the ledger gives to an owner that does not have them, or whose last owner in the ledger is another one. */
const wronglyCounted = (match: MatchOnSale): Promise<{ quotaId: string | null; ledger: number; seats: number }[]> =>
  replicas.dataSource.query(
    `with ledger as (
       select owner, sum(n)::int as n from (
         select to_quota as owner, quantity as n from quota_moves where match_id = $1
         union all select from_quota, -quantity from quota_moves where match_id = $1) m where owner is not null group by owner
     ), places as (select quota_id as owner, count(*)::int as n from seats where match_id = $1 and quota_id is not null group by quota_id)
     select owner as "quotaId", coalesce(l.n, 0) as ledger, coalesce(p.n, 0) as seats
     from ledger l full join places p using (owner) where coalesce(l.n, 0) <> coalesce(p.n, 0)`,
    [match.id],
  );

/** Places of a quota that a fan holds or has bought without an invitation. */
const ownedTwice = (match: MatchOnSale): Promise<{ id: string }[]> =>
  replicas.dataSource.query(
    `select s.id from seats s join reservations r on s.id = any(r.seat_ids)
     where s.match_id = $1 and s.quota_id is not null and r.invitation_id is null
       and (r.status = 'completed' or (r.status in ('held', 'ordered') and r.expires_at > now()))`,
    [match.id],
  );

test(`a move of ${PLACES} places takes at most ${MAX_MOVE_MS} ms while buyers hold other seats of the match, and no buyer fails`, async () => {
  const match = await putOnSale(replicas.offices[0].monolith, {
    sectors: [seated('North', 80, 100), seated('East', 60, 100), seated('West', 60, 100)],
  });
  const seatIds = await officeOf(0).seatIds(match);
  const quotaId = await emptyQuota(match);
  const before = await replicas.retries();
  const buyers = buyersOf(replicas, match, [1]);
  const times: number[] = [];
  for (const [from, to] of [
    [null, quotaId],
    [quotaId, null],
    [null, quotaId],
  ] as const)
    times.push((await timed(() => quotas.move({ matchId: match.id, from, to, seatIds }))).ms);
  const { answers, times: holdTimes } = await buyers.stop();
  report('move of places during a sale', {
    move_ms: times.map(Math.round),
    holds: tally(answers),
    hold_p50: quantile(holdTimes, 0.5),
    hold_p99: quantile(holdTimes, 0.99),
    retries: (await replicas.retries()) - before,
  });
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  expect(Math.min(...times)).toBeLessThan(MAX_MOVE_MS);
  expect([await quotas.counts(match, quotaId), await wronglyCounted(match)]).toEqual([[PLACES, PLACES, 0, 0, 0], []]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 120_000);

test('every process learns within a second of places that come back to the public, and sells them', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 1, 10)] });
  const [seatIds, sectorId] = [await officeOf(0).seatIds(match), match.sectors[0]?.id ?? ''];
  const quotaId = await quotas.quota(match, seatIds.slice(0, 8));
  const available = (process: number) =>
    officeOf(process)
      .monolith.call('GET', `/api/v1/matches/${match.id}/sectors`)
      .then(({ json }) => json.items[0].available as number);
  // Both processes have the sector in memory, without the places of the quota.
  await Promise.all([officeOf(0).held(match), officeOf(1).held(match)]);
  expect((await officeOf(1).hold(match)).json.code).toBe('ALL_SEATS_HELD');
  const told = new Set<string>();
  for (const [index, { monolith }] of replicas.offices.entries())
    monolith.get(SeatChangeBroadcast).listen({
      taken: () => undefined,
      moving: () => undefined,
      missed: () => undefined,
      freed: (id) => told.add(`${id} ${index}`),
    });
  expect(await available(0)).toBe(0);
  await quotas.move({ matchId: match.id, from: quotaId, to: null, seatIds: seatIds.slice(0, 8) });
  expect(await available(0)).toBe(8);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect([[...told].toSorted(), await available(1)]).toEqual([[`${sectorId} 0`, `${sectorId} 1`], 8]);
  const answers = await Promise.all([officeOf(1).hold(match, { quantity: 4 }), officeOf(0).hold(match, { quantity: 4 })]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
});

test('a move and a binding keep no predicate lock on seats, so no hold is a conflict with them', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 80, 100)] });
  const seatIds = await officeOf(0).seatIds(match);
  await replicas.dataSource.query('analyze seats');
  const largeQuotaId = await quotas.quota(match, seatIds.slice(0, 4000));
  const quotaId = await quotas.quota(match, seatIds.slice(4000, 4100));
  /** The predicate locks on the table `seats` that `work` leaves in its transaction. Rolls it back. */
  const locksOf = (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
    quotas
      .inTransaction(async (tx) => {
        await work(tx);
        const rows = await inside(tx).rows<{ locktype: string; n: number }>(
          `select locktype, count(*)::int as n from pg_locks
           where mode = 'SIReadLock' and relation = 'seats'::regclass and pid = pg_backend_pid() group by locktype`,
        );
        throw Object.assign(new Error('rolled back'), { rows });
      })
      .catch((error: { rows: unknown }) => error.rows);
  const everySecond = (from: number, to: number): string[] => seatIds.slice(from, to).filter((_, index) => index % 2 === 0);
  const move = { matchId: match.id, from: largeQuotaId, to: null, seatIds: everySecond(0, 4000) };
  const bound = [{ boundTo: randomUUID(), seatIds: everySecond(4000, 4040) }];
  expect(await locksOf((tx) => quotas.places.move(tx, move))).toEqual([]);
  expect(await locksOf((tx) => quotas.places.bind(tx, quotaId, bound))).toEqual([]);
  const bindAndUnbind = async (tx: Transaction): Promise<void> => {
    await quotas.places.bind(tx, quotaId, bound);
    expect(await quotas.places.unbind(tx, bound)).toHaveLength(20);
  };
  expect(await locksOf(bindAndUnbind)).toEqual([]);
  const scan = (tx: Transaction) => inside(tx).rows(`select from seats where quota_id = $1`, [quotaId]);
  expect(await locksOf(scan)).not.toEqual([]);
});

test('two moves of the same places at once: one of them moves them, and the ledger agrees with the places', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 20, 50)] });
  const seatIds = await officeOf(0).seatIds(match);
  const owners = await Promise.all(Array.from({ length: 6 }, () => emptyQuota(match)));
  const others = [quotas, new QuotaOffice(replicas.offices[1])];
  const moves = await Promise.allSettled(
    owners.map((to, index) => {
      // Each one asks for another half of the places, in another order.
      const half = [...seatIds.slice(index * 50), ...seatIds.slice(0, index * 50)].slice(0, 500);
      return others[index % 2]!.move({ matchId: match.id, from: null, to, seatIds: index % 3 === 0 ? half : half.toReversed() });
    }),
  );
  const refused = moves.flatMap((move) => (move.status === 'rejected' ? [move.reason as unknown] : []));
  expect([moves.length - refused.length, refused.filter((error) => !(error instanceof PlacesNotFree))]).toEqual([1, []]);
  expect([await wronglyCounted(match), await faultsOf(replicas.dataSource, match.id)]).toEqual([[], []]);
});

describe('moves and holds of the same seats at once', () => {
  const raced = async (
    move: (request: PlaceMove) => Promise<void>,
  ): Promise<{ match: MatchOnSale; moved: number; held: number }> => {
    const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 10, 20)] });
    const seatIds = await officeOf(0).seatIds(match);
    const to = await emptyQuota(match);
    let moved = 0;
    // Fifty moves of four places race with a hundred buyers who choose two of the same seats.
    const moves = Array.from({ length: 50 }, async (_, index) => {
      const part = seatIds.slice(index * 4, index * 4 + 4);
      await move({ matchId: match.id, from: null, to, seatIds: part }).then(
        () => (moved += 4),
        (error: unknown) => expect(error).toBeInstanceOf(PlacesNotFree),
      );
    });
    const holds = Array.from({ length: 100 }, (_, index) =>
      officeOf(index).hold(match, { seatIds: seatIds.slice(index * 2, index * 2 + 2) }),
    );
    const [answers] = await Promise.all([Promise.all(holds), Promise.all(moves)]);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const held = answers.filter(({ status }) => status === 201).length * 2;
    report('moves and holds of the same seats', { moved, held, answers: tally(answers) });
    return { match, moved, held };
  };

  test('no place has two owners', async () => {
    const { match, moved, held } = await raced((request) => quotas.move(request));
    const rows = await officeOf(0).seatRows(match);
    expect([rows.blocked ?? 0, rows.held ?? 0, moved + held <= 200]).toEqual([moved, held, true]);
    expect([await ownedTwice(match), await wronglyCounted(match)]).toEqual([[], []]);
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  });

  test('negative control: a move without the guard takes seats that fans hold, and verify reports it', async () => {
    const unguarded = namedSql<Omit<PlaceMove, 'boundTo'> & { boundTo: null }>(
      'move-places-without-guard',
      MOVE_PLACES_SQL.replace(` and ${isFreeForOwner}`, ''),
    );
    const { match } = await raced(async (request) => {
      const statement = unguarded.with({ ...request, boundTo: null });
      await runReadCommitted(replicas.dataSource, async (client) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        await client.query(statement.text, statement.values);
      });
    });
    expect((await ownedTwice(match)).length).toBeGreaterThan(0);
    expect((await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name)).toContain('live-holds');
  });
});

test('negative control: two moves that read before they write, without a lock, count a place twice in the ledger', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 2, 10)] });
  const seatIds = await officeOf(0).seatIds(match);
  const owners = [await emptyQuota(match), await emptyQuota(match)];
  let readers = 0;
  let bothHaveRead: () => void = () => undefined;
  const afterBoth = new Promise<void>((resolve) => (bothHaveRead = resolve));
  await Promise.all(
    owners.map((to) =>
      runReadCommitted(replicas.dataSource, async (client) => {
        const free = await client.query(`select id from seats where id = any($1::uuid[]) and quota_id is null`, [seatIds]);
        readers += 1;
        if (readers === 2) bothHaveRead();
        await afterBoth;
        if (free.rows.length < seatIds.length) return;
        await client.query(`update seats set quota_id = $2, status = 'blocked' where id = any($1::uuid[])`, [seatIds, to]);
        await client.query(
          `insert into quota_moves (id, match_id, kind, actor, to_quota, quantity, reason, seat_ids)
           values (gen_random_uuid(), $1, 'move', 'system', $2, cardinality($3::uuid[]), 'test', $3)`,
          [match.id, to, seatIds],
        );
      }),
    ),
  );
  const [wrong] = await wronglyCounted(match);
  expect([wrong?.ledger, wrong?.seats]).toEqual([20, 0]);
});
