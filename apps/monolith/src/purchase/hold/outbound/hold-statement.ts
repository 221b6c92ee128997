import type { SectorForSale } from '../../application/ports.ts';
import type { FanSeats } from './postgres-fan-seats.ts';

/** One wish in a batch, as the statement takes it. */
export interface HoldRow {
  readonly reservationId: string;
  readonly sector: Pick<SectorForSale, 'id' | 'matchId' | 'name' | 'priceCents'>;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly seats: readonly number[];
  readonly seatRows: SeatRows;
  /** Wanted; more than `seats` when none could be proposed: then it is only asked why not. */
  readonly quantity: number;
  readonly together: boolean;
  readonly fan: FanSeats;
  /** 32 hexadecimal digits each. */
  readonly key: { readonly key: string; readonly fingerprint: string } | null;
}

/** The seats of a sector as they stand in the database. */
export interface SeatRows {
  idOf(seat: number): string;
  /** Where its row lay when memory last looked; null for a seat it does not know. */
  ctidOf(seat: number): string | null;
}

/** These were won until then, their numbers with a comma between them; who is not among them was not. */
export interface HoldsWon {
  readonly indices: string;
  readonly expiresAtMs: number;
}

/** Texts, as hold-parameters.ts writes them. */
export const TEXTS = (parameter: string): string => `string_to_array(${parameter}::text, chr(30), chr(31))`;
/** Of the wish in hand; ids and numbers have one width, so finding one takes no longer than a join would for its row. */
const OWN = (parameter: string): string => `(${parameter})[index]`;
/** Of its sector, as the sectors of a batch are few. */
const OF_SECTOR = (parameter: string): string => `(${parameter})[($4::int[])[index]]`;
/** The same of 16 bytes each, one after the other: out of an array of texts each would be found by going through those before it. */
const OWN_BYTES = (parameter: string): string => `substring(${parameter}::bytea from index * 16 - 15 for 16)`;
const NO_KEY = `'\\x${'00'.repeat(16)}'`;
export const IS_FREE = `(s.status = 'available' or (s.status = 'held' and s.expires_at <= now()))`;

/**
 * Many holds in one statement, one commit: for each wish the rules, its seats, the fan's row, the reservation and its
 * idempotency key; all of a wish or nothing of it. It takes what may be taken and says no more: why a wish was not
 * met is asked afterwards, for those it concerns (WHY_NOT_HELD), as nearly all are met. SERIALIZABLE, and free of false
 * conflicts because it touches everything by key: no range, no count, no look whether a key exists (a second use of one breaks
 * the unique index, and the batch is then run one by one). `skip locked`: a seat another process is taking, a fan whose
 * payment is being settled, is not waited for, or one locked row would stop a whole lane. No two wishes of a batch name the
 * same seat, the caller sees to that; if they did, the last column would divide by zero and nothing of the batch would have
 * happened.
 *
 * Seats are reached by the place of their row (ctid), which memory brings along: every change of a row moves it, so a place
 * that is still right says that nobody has touched the seat since, and no index is searched (15 of 75 µs a hold, with room in
 * the table's pages for every seat's first change). Whoever lies now where a seat was is not taken for it, for the id is
 * compared.
 *
 * Every other table is reached with `= any(array)` and everything else is a hash join: the session switches nested loops off
 * (HOLD_PLANNING), because the planner takes a batch of 250 for one row and would compare each with each (132 ms instead of
 * 10 ms for 250 wishes). Between the steps go only the number of a wish and what the step before found; what the rows need is
 * taken out of the parameters when they are written (5 of 40 µs).
 */
export const HOLD_BATCH = `
with clock as materialized (
  select date_trunc('milliseconds', now() + make_interval(secs => $16)) as hold_end
), permitted as (
  select a.index, a.id, least((select hold_end from clock), date_trunc('milliseconds', w.expires_at)) as expires_at, m.currency,
         case when m.queue_required then a.session_token end as session_token
  from unnest($1::int[], $2::uuid[], $3::uuid[], $5::int[], ${TEXTS('$6')}) as a(index, id, user_id, seats_with_these, session_token)
       join (select * from matches where id = any($20::uuid[])) m on m.id = ${OF_SECTOR('$20::uuid[]')}
       left join (select * from purchase_windows where session_token = any(${TEXTS('$6')})) w
         on m.queue_required and w.session_token = a.session_token
  where (m.sale_status in ('open', case when m.queue_required then 'paused' end)
         or (m.sale_status = 'scheduled' and m.opens_at <= now()))
    and (not m.queue_required
         or (w.user_id = a.user_id and w.match_id = m.id and w.end_reason is null and w.expires_at > now()))
    and a.seats_with_these <= m.max_tickets_per_fan
), locked as (
  select s.id, s.ctid as place, s.sector_id from seats s where s.ctid = any($9::tid[]) and ${IS_FREE}
  for no key update skip locked
), proposed as materialized (
  select index, place from unnest($7::int[], $8::uuid[]) as p(index, seat_id)
         join locked on id = seat_id and sector_id = ${OF_SECTOR('$19::uuid[]')}
), complete as materialized (
  select index, id from (select index from proposed group by index having count(*) = ${OWN('$10::int[]')}) as c join permitted using (index)
), unlocked as (
  select f.match_id, f.user_id from fan_seats f
  where f.user_id = any(array(select ${OWN('$3::uuid[]')} from complete where ${OWN('$11::int[]')} > 0)) and f.match_id = any($20)
  for no key update skip locked
), known as (
  update fan_seats f set revision = f.revision + 1, reservation_ids = d.living::uuid[]
  from unnest($12::int[], ${TEXTS('$13')}) as d(index, living) join complete c using (index)
       join unlocked u on u.match_id = ${OF_SECTOR('$20::uuid[]')} and u.user_id = ${OWN('$3::uuid[]')}
  where f.user_id = any(array(select user_id from unlocked)) and f.match_id = u.match_id and f.user_id = u.user_id
    and f.revision = ${OWN('$11::int[]')}
  returning c.id
), newcomers as (
  insert into fan_seats (match_id, user_id, revision, reservation_ids)
  select ${OF_SECTOR('$20::uuid[]')}, ${OWN('$3::uuid[]')}, 1, array[id] from complete where ${OWN('$11::int[]')} = 0
  on conflict (user_id, match_id) do nothing returning reservation_ids[1] as id
), won as materialized (
  select permitted.* from (select id from known union all select id from newcomers) as counted join permitted using (id)
), keyed as (
  insert into idempotency_keys (key, user_id, fingerprint, status, made)
  select encode(${OWN_BYTES('$17')}, 'hex'), ${OWN('$3::uuid[]')}, encode(${OWN_BYTES('$18')}, 'hex'), 201, id
  from won where ${OWN_BYTES('$17')} <> ${NO_KEY}
), reserved as (
  insert into reservations (id, match_id, sector_id, user_id, session_token, status, seat_ids, quantity, sector, price_cents, together,
                            total_cents, currency, expires_at)
  select id, ${OF_SECTOR('$20::uuid[]')}, ${OF_SECTOR('$19::uuid[]')}, ${OWN('$3::uuid[]')}, session_token, 'held',
         ($8::uuid[])[${OWN('$14::int[]')} : ${OWN('$14::int[]')} + ${OWN('$10::int[]')} - 1], ${OWN('$10::int[]')},
         ${OF_SECTOR('$22::text[]')}, ${OF_SECTOR('$21::int[]')}, ${OWN('$15::bool[]')},
         ${OF_SECTOR('$21::int[]')} * ${OWN('$10::int[]')}, currency, expires_at
  from won
), given as materialized (
  select place, id, expires_at from proposed join won using (index)
), held as (
  update seats s set status = 'held', reservation_id = given.id, expires_at = given.expires_at
  from given where s.ctid = given.place and s.ctid = any(array(select place from given)) returning 1
)
select string_agg(index::text, ',') as indices, date_part('epoch', expires_at) * 1000 as "expiresAtMs",
       1 / (case when (select count(*) from held) = (select count(*) from given) then 1 else 0 end) as "eachSeatOnce"
from won group by expires_at`;

/** How the session plans it; see above. */
export const HOLD_PLANNING = '-c enable_nestloop=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';
