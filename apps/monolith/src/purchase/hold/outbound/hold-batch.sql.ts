import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.api.ts';
import type { HoldBatchParameters } from './hold-batch-parameters.ts';

/*
 * HOLD_BATCH holds seats for up to 256 requests in one statement and one commit.
 *
 * Guarantees
 * - Each request gets all of its seats or none, together with its reservation, its idempotency row and its fan's new revision.
 * - A seat is held only if it is free at the moment the statement runs. A stale proposal holds nothing.
 * - A fan's ticket limit and cooldown hold: the fan's row must still have the revision at which the seats and the unpaid holds were
 *   counted.
 * - It waits for no row (`skip locked`). A seat or fan that another transaction has locked means: not held.
 * - No seat is held for two requests of a batch. The caller makes sure that no two requests name the same seat. If two did, the
 *   last column of the result would divide by zero and nothing of the batch would be committed.
 * It returns only the requests that were held. WHY_NOT_HELD finds the reason for each request that was not held.
 *
 * How it stays fast
 * - SERIALIZABLE without false conflicts: every row is found by key. The statement reads no range, counts no rows of a table, and
 *   does not check whether an idempotency key exists: a key used twice violates the unique index, and the caller runs the batch
 *   again without the request that has this key.
 * - Seats are found by ctid, which says where PostgreSQL kept the row at the last refresh. This saves the index search (15 of 75
 *   µs a hold). Every change of a row moves it, and another row may have moved to its ctid, so the id is compared too.
 * - All other rows are found by hash joins: HOLD_SETTINGS switches nested loops off, because the planner estimates one row for a
 *   batch of 250 and would compare every row with every other row (132 ms instead of 10 ms).
 * - The CTEs pass on only the number of a request. Its values are read from the parameters when they are written (saves 5 of 40
 *   µs).
 */

/** PostgreSQL settings of the sessions that run HOLD_BATCH. */
export const HOLD_SETTINGS = '-c enable_nestloop=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';

/** A row of the result of HOLD_BATCH: all requests of the batch that were held until the same time. */
export interface HeldRequests {
  /** Numbers of the requests, from 1, separated by commas. */
  readonly indices: string;
  readonly expiresAtMs: number;
}

/** SQL that splits a parameter, which `joinTexts` has joined, into an array of texts. */
export const texts = (parameter: string): string => `string_to_array(${parameter}::text, chr(30), chr(31))`;
/**
 * SQL: the value of the request `index` in an array parameter. Its elements have a fixed width, so PostgreSQL finds the value
 * directly.
 */
const own = (parameter: string): string => `(${parameter})[index]`;
/** SQL: the value of the sector of the request `index` in an array parameter. */
const ofSector = (parameter: string): string => `(${parameter})[(:sectorNumbers::int[])[index]]`;
/** SQL: the 16 bytes of the request `index` in a parameter. An array of texts would be read from its beginning for each request. */
const ownBytes = (parameter: string): string => `substring(${parameter}::bytea from index * 16 - 15 for 16)`;
const NO_KEY = `'\\x${'00'.repeat(16)}'`;

/** The SQL of HOLD_BATCH. Tests change this text to remove a guard. */
export const HOLD_BATCH_SQL = `
with clock as materialized (
  select date_trunc('milliseconds', now() + make_interval(secs => :holdSeconds)) as hold_end
), permitted as (
  -- Requests that the rules allow: the sale is open, the fan's turn is valid, the limit is kept. Of a fan in
  -- cooldown the limit refuses any number of seats.
  select a.index, a.id, least((select hold_end from clock), date_trunc('milliseconds', w.expires_at)) as expires_at, m.currency,
         case when m.queue_required then a.session_token end as session_token
  from unnest(:indices::int[], :reservationIds::uuid[], :userIds::uuid[], :seatsWithThese::int[], ${texts(':sessionTokens')})
         as a(index, id, user_id, seats_with_these, session_token)
       join (select * from matches where id = any(:matchIds::uuid[])) m on m.id = ${ofSector(':matchIds::uuid[]')}
       left join (select * from purchase_windows where session_token = any(${texts(':sessionTokens')})) w
         on m.queue_required and w.session_token = a.session_token
  where (m.sale_status in ('open', case when m.queue_required then 'paused' end)
         or (m.sale_status = 'scheduled' and m.opens_at <= now()))
    and (not m.queue_required
         or (w.user_id = a.user_id and w.match_id = m.id and w.end_reason is null and w.expires_at > now()))
    and a.seats_with_these <= m.max_tickets_per_fan
), locked as (
  -- Proposed seats that are free and that no other transaction has locked.
  select s.id, s.ctid as row_ctid, s.sector_id from seats s where s.ctid = any(:seatCtids::tid[]) and ${seatIsFree('s')}
  for no key update skip locked
), proposed as materialized (
  -- The request each of them was proposed for. Comparing the id excludes another row that moved to the same ctid.
  select index, row_ctid from unnest(:seatOwners::int[], :seatIds::uuid[]) as p(index, seat_id)
         join locked on id = seat_id and sector_id = ${ofSector(':sectorIds::uuid[]')}
), complete as materialized (
  -- Permitted requests that could lock all of their seats.
  select index, id from (select index from proposed group by index having count(*) = ${own(':quantities::int[]')}) as c
                        join permitted using (index)
), unlocked as (
  -- Rows of known fans that no other transaction has locked.
  select f.match_id, f.user_id from fan_seats f
  where f.user_id = any(array(select ${own(':userIds::uuid[]')} from complete where ${own(':revisions::int[]')} > 0))
    and f.match_id = any(:matchIds)
  for no key update skip locked
), known as (
  -- Known fans whose revision is still the counted one: moved on, so that nobody adds to the old count.
  update fan_seats f set revision = f.revision + 1, reservation_ids = d.living::uuid[], unpaid_ids = d.unpaid::uuid[],
                         unpaid_from = coalesce(d.unpaid_from::timestamptz, f.unpaid_from)
  from unnest(:knownIndices::int[], ${texts(':knownReservations')}, ${texts(':knownUnpaid')}, ${texts(':knownUnpaidFrom')})
         as d(index, living, unpaid, unpaid_from) join complete c using (index)
       join unlocked u on u.match_id = ${ofSector(':matchIds::uuid[]')} and u.user_id = ${own(':userIds::uuid[]')}
  where f.user_id = any(array(select user_id from unlocked)) and f.match_id = u.match_id and f.user_id = u.user_id
    and f.revision = ${own(':revisions::int[]')}
  returning c.id
), newcomers as (
  -- Fans counted as new. A row that exists meanwhile means: not held.
  insert into fan_seats (match_id, user_id, revision, reservation_ids)
  select ${ofSector(':matchIds::uuid[]')}, ${own(':userIds::uuid[]')}, 1, array[id] from complete where ${own(':revisions::int[]')} = 0
  on conflict (user_id, match_id) do nothing returning reservation_ids[1] as id
), won as materialized (
  select permitted.* from (select id from known union all select id from newcomers) as counted join permitted using (id)
), keyed as (
  insert into idempotency_keys (key, user_id, fingerprint, status, made)
  select encode(${ownBytes(':keys')}, 'hex'), ${own(':userIds::uuid[]')}, encode(${ownBytes(':fingerprints')}, 'hex'), 201, id
  from won where ${ownBytes(':keys')} <> ${NO_KEY}
), reserved as (
  insert into reservations (id, match_id, sector_id, user_id, session_token, status, seat_ids, quantity, sector, price_cents, together,
                            total_cents, currency, expires_at)
  select id, ${ofSector(':matchIds::uuid[]')}, ${ofSector(':sectorIds::uuid[]')}, ${own(':userIds::uuid[]')}, session_token, 'held',
         (:seatIds::uuid[])[${own(':firstSeats::int[]')} : ${own(':firstSeats::int[]')} + ${own(':quantities::int[]')} - 1],
         ${own(':quantities::int[]')}, ${ofSector(':sectorNames::text[]')}, ${ofSector(':sectorPrices::int[]')},
         ${own(':together::bool[]')}, ${ofSector(':sectorPrices::int[]')} * ${own(':quantities::int[]')}, currency, expires_at
  from won
), given as materialized (
  select row_ctid, id, expires_at from proposed join won using (index)
), held as (
  update seats s set status = 'held', reservation_id = given.id, expires_at = given.expires_at
  from given where s.ctid = given.row_ctid and s.ctid = any(array(select row_ctid from given)) returning 1
)
-- The winners. The last column divides by zero when a seat was given to two requests.
select string_agg(index::text, ',') as indices, date_part('epoch', expires_at) * 1000 as "expiresAtMs",
       1 / (case when (select count(*) from held) = (select count(*) from given) then 1 else 0 end) as "eachSeatOnce"
from won group by expires_at`;

/** Holds seats for a batch of requests; see the guarantees at the top of this file. */
export const HOLD_BATCH = namedSql<HoldBatchParameters>('hold-batch', HOLD_BATCH_SQL);
