import type { FanSeats } from './postgres-fan-seats.ts';

/** One wish in a batch, as the statement takes it. */
export interface HoldRow {
  readonly reservationId: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly sector: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly seatIds: readonly string[];
  /** Wanted; more than `seatIds` when none could be proposed: then only the rules are asked. */
  readonly quantity: number;
  readonly together: boolean;
  readonly priceCents: number;
  readonly fan: FanSeats;
  readonly key: {
    readonly key: string;
    readonly fingerprint: string;
    readonly body: string;
    readonly location: string | null;
  } | null;
}

/** What became of it: won until then, or the facts that say why not. */
export interface HoldResult {
  readonly index: number;
  readonly expiresAtMs: number | null;
  readonly facts: HoldFacts | null;
}

export interface HoldFacts {
  /** By the database's clock: a scheduled sale whose time has come is open. */
  readonly saleStatus: string;
  readonly opensAtMs: number | null;
  readonly queueRequired: boolean;
  readonly limit: number;
  readonly windowUser: string | null;
  readonly windowMatch: string | null;
  readonly windowOver: boolean;
  readonly windowEnd: string | null;
  /** Somebody was paying for, or getting, other seats of this fan; told of wishes whose seats were free. */
  readonly fanBusy: boolean;
  /** Proposed seats that have somebody. */
  readonly gone: readonly string[];
  /** Proposed seats that somebody is taking this moment. */
  readonly busy: readonly string[];
}

/** Stands in a rendered answer where the time of expiry will be; the database puts in its own. */
export const EXPIRY_PLACEHOLDER = new Date('9999-12-31T23:59:59.999Z');

/** Between texts, and in place of one that is not there. */
const SEPARATOR = '\u001e';
const NULL_TEXT = '\u001f';
const TEXTS = (parameter: string): string => `string_to_array(${parameter}::text, chr(30), chr(31))`;

/**
 * Many holds in one statement, one commit: for each wish the rules, its seats, the fan's row, the reservation and the answer
 * under its idempotency key; all of a wish or nothing of it. SERIALIZABLE, and free of false conflicts because it touches
 * everything by key: no range, no count, no look whether a key exists (a second use of one breaks the unique index, and the
 * batch is then run one by one). `skip locked`: a seat another process is taking, a fan whose payment is being settled, is not
waited for, or one locked row would stop a whole lane. No two
 * wishes of a batch name the same seat, the caller sees to that; if they did, the last column would divide by zero and
 * nothing of the batch would have happened.
 *
 * Every table is reached with `= any(array)` and everything else is a hash join: the session switches nested loops off
 * (HOLD_PLANNING), because the planner takes a batch of 250 for one row and would compare each with each (132 ms instead of
 * 10 ms for 250 wishes). What only the rows need (`details`, `keys`) is not carried through the steps that decide: a fifth.
 */
export const HOLD_BATCH = `
with asked as materialized (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::int[], $7::int[], $8::int[], ${TEXTS('$9')})
    as a(index, id, match_id, sector_id, user_id, quantity, taken, revision, session_token)
), proposed as (
  select * from unnest($19::int[], $20::uuid[]) as p(index, seat_id)
), ruled as (
  select a.*, m.currency, m.opens_at,
         case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end as sale_status,
         m.queue_required, m.max_tickets_per_fan,
         w.user_id as window_user, w.match_id as window_match, w.end_reason as window_end,
         w.expires_at as window_expires_at, coalesce(w.expires_at <= now(), false) as window_over
  from asked a join (select * from matches where id = any($3)) m on m.id = a.match_id
       left join (select * from purchase_windows where session_token = any(${TEXTS('$9')})) w on m.queue_required and w.session_token = a.session_token
), permitted as (
  select index, id, match_id, sector_id, user_id, quantity, revision, currency, window_expires_at,
         case when queue_required then session_token end as session_token
  from ruled
  where (sale_status = 'open' or (sale_status = 'paused' and queue_required))
    and (not queue_required or (window_user = user_id and window_match = match_id and window_end is null and not window_over))
    and taken + quantity <= max_tickets_per_fan
), locked as (
  select s.id, s.sector_id, (s.status = 'available' or (s.status = 'held' and s.expires_at <= now())) as free
  from seats s where s.id = any(array(select p.seat_id from proposed p join permitted using (index)))
  order by s.id for no key update skip locked
), complete as (
  select p.index from proposed p join permitted a using (index) join locked l on l.id = p.seat_id and l.free and l.sector_id = a.sector_id
  group by p.index, a.quantity having count(*) = a.quantity
), unlocked as (
  select f.match_id, f.user_id from fan_seats f
  where f.user_id = any(array(select a.user_id from permitted a join complete using (index) where a.revision > 0)) and f.match_id = any($3)
  for no key update skip locked
), known as (
  update fan_seats f set revision = a.revision + 1, reservation_ids = d.fan_reservation_ids::uuid[]
  from permitted a join complete using (index) join unlocked using (match_id, user_id)
       join unnest($1::int[], ${TEXTS('$14')}) as d(index, fan_reservation_ids) using (index)
  where f.user_id = any(array(select user_id from unlocked)) and f.match_id = a.match_id and f.user_id = a.user_id and f.revision = a.revision
  returning f.match_id, f.user_id
), newcomers as (
  insert into fan_seats (match_id, user_id, revision, reservation_ids)
  select a.match_id, a.user_id, 1, array[a.id] from permitted a join complete using (index) where a.revision = 0
  on conflict (user_id, match_id) do nothing returning match_id, user_id
), counted as (
  select * from known union all select * from newcomers
), won as (
  select a.index, a.id, a.match_id, a.user_id, a.session_token, a.currency,
         date_trunc('milliseconds', least(now() + make_interval(secs => $21), coalesce(a.window_expires_at, 'infinity'))) as expires_at
  from permitted a join complete using (index) join counted using (match_id, user_id)
), keyed as (
  insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
  select k.key, user_id, fingerprint, 201, replace(body, $22, to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), location
  from won join unnest($1::int[], ${TEXTS('$15')}, ${TEXTS('$16')}, ${TEXTS('$17')}, ${TEXTS('$18')})
    as k(index, key, fingerprint, body, location) using (index)
  where k.key is not null
), reserved as (
  insert into reservations (id, match_id, sector_id, user_id, session_token, status, seat_ids, quantity, sector, price_cents, together,
                            total_cents, currency, expires_at)
  select id, match_id, sector_id, user_id, session_token, 'held', seat_ids::uuid[], quantity, sector, price_cents, together,
         price_cents * quantity, currency, expires_at
  from won join unnest($1::int[], $4::uuid[], $6::int[], $10::bool[], $11::int[], ${TEXTS('$12')}, ${TEXTS('$13')})
    as details(index, sector_id, quantity, together, price_cents, sector, seat_ids) using (index)
), given as (
  select p.seat_id, won.id, won.expires_at from proposed p join won using (index)
), held as (
  update seats s set status = 'held', reservation_id = given.id, expires_at = given.expires_at
  from given where s.id = given.seat_id and s.id = any(array(select seat_id from given)) returning 1
)
select r.index, (extract(epoch from won.expires_at) * 1000)::float8 as "expiresAtMs",
       case when won.index is null then jsonb_build_object(
         'saleStatus', r.sale_status, 'opensAtMs', extract(epoch from r.opens_at) * 1000, 'queueRequired', r.queue_required,
         'limit', r.max_tickets_per_fan, 'windowUser', r.window_user, 'windowMatch', r.window_match, 'windowOver', r.window_over,
         'windowEnd', r.window_end,
         'fanBusy', r.revision > 0 and not exists (select from unlocked u where u.user_id = r.user_id and u.match_id = r.match_id),
         'gone', array(select p.seat_id from proposed p join locked l on l.id = p.seat_id where p.index = r.index and not l.free),
         'busy', array(select p.seat_id from proposed p where p.index = r.index and not exists (select from locked l where l.id = p.seat_id))) end as facts,
       1 / (case when (select count(*) from held) = (select count(*) from given) then 1 else 0 end) as "eachSeatOnce"
from ruled r left join won using (index)`;

/** How the session plans it; see above. */
export const HOLD_PLANNING = '-c enable_nestloop=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';

/** The rows as the statement's parameters: one array a column, written as PostgreSQL reads it. */
export function holdParameters(rows: readonly HoldRow[], holdSeconds: number): unknown[] {
  const seats = rows.flatMap(({ seatIds }, index) => seatIds.map((seatId) => ({ index, seatId })));
  return [
    plain(rows.map((_, index) => index)),
    plain(rows.map((row) => row.reservationId)),
    plain(rows.map((row) => row.matchId)),
    plain(rows.map((row) => row.sectorId)),
    plain(rows.map((row) => row.userId)),
    plain(rows.map((row) => row.quantity)),
    plain(rows.map((row) => row.fan.taken)),
    plain(rows.map((row) => row.fan.revision)),
    texts(rows.map((row) => row.sessionToken)),
    plain(rows.map((row) => row.together)),
    plain(rows.map((row) => row.priceCents)),
    texts(rows.map((row) => row.sector)),
    texts(rows.map((row) => plain(row.seatIds))),
    texts(rows.map((row) => plain([...row.fan.living, row.reservationId]))),
    texts(rows.map((row) => row.key?.key ?? null)),
    texts(rows.map((row) => row.key?.fingerprint ?? null)),
    texts(rows.map((row) => row.key?.body ?? null)),
    texts(rows.map((row) => row.key?.location ?? null)),
    plain(seats.map(({ index }) => index)),
    plain(seats.map(({ seatId }) => seatId)),
    holdSeconds,
    EXPIRY_PLACEHOLDER.toISOString(),
  ];
}

/** Numbers, booleans and ids need no quoting; the driver's own arrays quote every element, which took a tenth of the time. */
function plain(values: readonly (number | boolean | string)[]): string {
  return `{${values.join(',')}}`;
}

/** Texts, joined by a character that is in none of them (schemas and JSON refuse control characters); see TEXTS. */
function texts(values: readonly (string | null)[]): string {
  return values
    .map((value) => (value === null ? NULL_TEXT : value.replaceAll(SEPARATOR, ' ').replaceAll(NULL_TEXT, ' ')))
    .join(SEPARATOR);
}
