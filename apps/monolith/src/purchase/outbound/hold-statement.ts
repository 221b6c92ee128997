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
  /** Where their rows lay when memory last looked; null for a seat it does not know. */
  readonly places: readonly (string | null)[];
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
  /** Proposed seats that changed since memory looked, in whatever way: it has to look again. */
  readonly moved: readonly string[];
}

/** Stands in a rendered answer where the time of expiry will be; the database puts in its own. */
export const EXPIRY_PLACEHOLDER = new Date('9999-12-31T23:59:59.999Z');

const PRINTED = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
/** Between texts, and in place of one that is not there. */
const SEPARATOR = '\u001e';
/** The place of no row. */
const NOWHERE = '(0,0)';
const NULL_TEXT = '\u001f';
const TEXTS = (parameter: string): string => `string_to_array(${parameter}::text, chr(30), chr(31))`;

/**
 * Many holds in one statement, one commit: for each wish the rules, its seats, the fan's row, the reservation and the answer
 * under its idempotency key; all of a wish or nothing of it. SERIALIZABLE, and free of false conflicts because it touches
 * everything by key: no range, no count, no look whether a key exists (a second use of one breaks the unique index, and the
 * batch is then run one by one). `skip locked`: a seat another process is taking, a fan whose payment is being settled, is not
 * waited for, or one locked row would stop a whole lane. No two
 * wishes of a batch name the same seat, the caller sees to that; if they did, the last column would divide by zero and
 * nothing of the batch would have happened.
 *
 * Seats are reached by the place of their row (ctid), which memory brings along: every change of a row moves it, so a place
 * that is still right says that nobody has touched the seat since, and no index is searched (15 of 75 µs a hold, with room in
 * the table's pages for every seat's first change). A place that is not right is told as `moved`; whoever lies there now is
 * not taken for the seat, for the id is compared.
 *
 * Every other table is reached with `= any(array)` and everything else is a hash join: the session switches nested loops off
 * (HOLD_PLANNING), because the planner takes a batch of 250 for one row and would compare each with each (132 ms instead of
 * 10 ms for 250 wishes). What only the rows need (`details`, `keys`) is not carried through the steps that decide: a fifth.
 * The time of expiry is the same for nearly all, so it is printed once.
 */
export const HOLD_BATCH = `
with clock as materialized (
  select hold_end, to_char(hold_end at time zone 'UTC', ${PRINTED}) as printed
  from (select date_trunc('milliseconds', now() + make_interval(secs => $21)) as hold_end) as c
), asked as materialized (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::int[], $7::int[], $8::int[], ${TEXTS('$9')})
    as a(index, id, match_id, sector_id, user_id, quantity, taken, revision, session_token)
), proposed as (
  select * from unnest($18::int[], $19::uuid[], $20::tid[]) as p(index, seat_id, place)
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
  select s.id, s.ctid as place, s.sector_id, (s.status = 'available' or (s.status = 'held' and s.expires_at <= now())) as free
  from seats s where s.ctid = any(array(select p.place from proposed p join permitted using (index)))
  for no key update skip locked
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
       join unnest($10::int[], ${TEXTS('$11')}) as d(index, fan_reservation_ids) using (index)
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
         least((select hold_end from clock), date_trunc('milliseconds', a.window_expires_at)) as expires_at
  from permitted a join complete using (index) join counted using (match_id, user_id)
), keyed as (
  insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
  select k.key, user_id, fingerprint, 201,
         replace(body, $22, case when expires_at = (select hold_end from clock) then (select printed from clock)
                                 else to_char(expires_at at time zone 'UTC', ${PRINTED}) end), location
  from won join unnest($1::int[], ${TEXTS('$14')}, ${TEXTS('$15')}, ${TEXTS('$16')}, ${TEXTS('$17')})
    as k(index, key, fingerprint, body, location) using (index)
  where k.key is not null
), reserved as (
  insert into reservations (id, match_id, sector_id, user_id, session_token, status, seat_ids, quantity, sector, price_cents, together,
                            total_cents, currency, expires_at)
  select id, match_id, sector_id, user_id, session_token, 'held', ($19::uuid[])[first_seat:first_seat + quantity - 1], quantity, sector,
         price_cents, together, price_cents * quantity, currency, expires_at
  from won join unnest($1::int[], $4::uuid[], $6::int[], $12::bool[], $13::int[], ${TEXTS('$23')}, $24::int[])
    as details(index, sector_id, quantity, together, price_cents, sector, first_seat) using (index)
), given as (
  select l.id as seat_id, l.place, won.id, won.expires_at from won join proposed p using (index) join locked l on l.id = p.seat_id
), held as (
  update seats s set status = 'held', reservation_id = given.id, expires_at = given.expires_at
  from given where s.id = given.seat_id and s.ctid = any(array(select place from given)) returning 1
), lying as (
  select s.id from seats s where s.ctid = any($20::tid[])
)
select r.index, date_part('epoch', won.expires_at) * 1000 as "expiresAtMs",
       case when won.index is null then jsonb_build_object(
         'saleStatus', r.sale_status, 'opensAtMs', extract(epoch from r.opens_at) * 1000, 'queueRequired', r.queue_required,
         'limit', r.max_tickets_per_fan, 'windowUser', r.window_user, 'windowMatch', r.window_match, 'windowOver', r.window_over,
         'windowEnd', r.window_end,
         'fanBusy', r.revision > 0 and not exists (select from unlocked u where u.user_id = r.user_id and u.match_id = r.match_id),
         'gone', array(select p.seat_id from proposed p join locked l on l.id = p.seat_id where p.index = r.index and not l.free),
         'busy', array(select p.seat_id from proposed p join lying on lying.id = p.seat_id
                       where p.index = r.index and not exists (select from locked l where l.id = p.seat_id)),
         'moved', array(select p.seat_id from proposed p where p.index = r.index and not exists (select from lying where lying.id = p.seat_id))) end as facts,
       1 / (case when (select count(*) from held) = (select count(*) from given) then 1 else 0 end) as "eachSeatOnce"
from ruled r left join won using (index)`;

/** How the session plans it; see above. */
export const HOLD_PLANNING = '-c enable_nestloop=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';

/** The rows as the statement's parameters: one array a column, written as PostgreSQL reads it. */
export function holdParameters(rows: readonly HoldRow[], holdSeconds: number): unknown[] {
  const known = rows.map((row, index) => ({ ...row.fan, id: row.reservationId, index })).filter(({ revision }) => revision > 0);
  const firsts: number[] = [];
  const [owners, seatIds, places]: [number[], string[], string[]] = [[], [], []];
  for (const [index, row] of rows.entries()) {
    firsts.push(seatIds.length + 1);
    for (const [at, seatId] of row.seatIds.entries()) {
      owners.push(index);
      seatIds.push(seatId);
      places.push(`"${row.places[at] ?? NOWHERE}"`);
    }
  }
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
    plain(known.map(({ index }) => index)),
    texts(known.map(({ living, id }) => plain([...living, id]))),
    plain(rows.map((row) => row.together)),
    plain(rows.map((row) => row.priceCents)),
    texts(rows.map((row) => row.key?.key ?? null)),
    texts(rows.map((row) => row.key?.fingerprint ?? null)),
    texts(rows.map((row) => row.key?.body ?? null)),
    texts(rows.map((row) => row.key?.location ?? null)),
    plain(owners),
    plain(seatIds),
    plain(places),
    holdSeconds,
    EXPIRY_PLACEHOLDER.toISOString(),
    texts(rows.map((row) => row.sector)),
    plain(firsts),
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
