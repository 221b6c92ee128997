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
  /** Seats the fan had when counted, and at which revision. */
  readonly taken: number;
  readonly revision: number;
  readonly key: {
    readonly key: string;
    readonly fingerprint: string;
    readonly body: string;
    readonly location: string | null;
  } | null;
}

/** What became of it; the facts say why when it was not won. */
export interface HoldResult {
  readonly index: number;
  readonly won: boolean;
  readonly expiresAt: Date | null;
  readonly currency: string;
  readonly saleStatus: string;
  readonly opensAt: Date | null;
  readonly queueRequired: boolean;
  readonly limit: number;
  readonly windowUser: string | null;
  readonly windowMatch: string | null;
  readonly windowOver: boolean;
  readonly windowEnd: string | null;
  /** Proposed seats that have somebody. */
  readonly gone: readonly string[];
  /** Proposed seats that somebody is taking this moment. */
  readonly busy: readonly string[];
}

/** Stands in a rendered answer where the time of expiry will be; the database puts in its own. */
export const EXPIRY_PLACEHOLDER = new Date('9999-12-31T23:59:59.999Z');

/**
 * Many holds in one statement, one commit: for each wish the rules, its seats, the fan's row, the reservation and the answer
 * under its idempotency key; all of a wish or nothing of it. SERIALIZABLE, and free of false conflicts because it touches
 * everything by key: no range, no count, no look whether a key exists (a second use of one breaks the unique index, and the
 * batch is then run one by one). `for update skip locked`: a seat another process is taking is lost, not waited for.
 *
 * Every table is reached with `= any(array)` and everything else is a hash join: the session switches nested loops off
 * (HOLD_PLANNING), because the planner takes a batch of 250 for one row and would compare each with each (132 ms instead of
 * 10 ms for 250 wishes).
 */
export const HOLD_BATCH = `
with asked as (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::int[], $9::bool[], $10::int[],
                       $11::int[], $12::int[], $13::text[], $14::text[], $15::text[], $16::text[])
    as a(index, id, match_id, sector_id, sector, user_id, session_token, quantity, together, price_cents, taken, revision, key, fingerprint, body, location)
), proposed as (
  select * from unnest($17::int[], $18::uuid[], $19::int[]) as p(index, seat_id, position)
), ruled as (
  select a.*, m.currency, m.sale_status, m.opens_at, m.queue_required, m.max_tickets_per_fan,
         w.user_id as window_user, w.match_id as window_match, w.end_reason as window_end,
         w.expires_at as window_expires_at, coalesce(w.expires_at <= now(), false) as window_over
  from asked a join (select * from matches where id = any($3)) m on m.id = a.match_id
       left join (select * from purchase_windows where session_token = any($7)) w on m.queue_required and w.session_token = a.session_token
), permitted as (
  select * from ruled
  where (sale_status = 'open' or (sale_status = 'scheduled' and opens_at <= now()) or (sale_status = 'paused' and queue_required))
    and (not queue_required or (window_user = user_id and window_match = match_id and window_end is null and not window_over))
    and taken + quantity <= max_tickets_per_fan
), locked as (
  select s.id, s.sector_id, s.row_label, s.number, (s.status = 'available' or (s.status = 'held' and s.expires_at <= now())) as free
  from seats s where s.id = any(array(select p.seat_id from proposed p join permitted using (index)))
  order by s.id for update skip locked
), complete as (
  select p.index from proposed p join permitted a using (index) join locked l on l.id = p.seat_id and l.free and l.sector_id = a.sector_id
  group by p.index, a.quantity having count(*) = a.quantity
), counted as (
  insert into fan_seats (match_id, user_id, revision) select a.match_id, a.user_id, a.revision + 1 from permitted a join complete using (index)
  on conflict (user_id, match_id) do update set revision = excluded.revision where fan_seats.revision = excluded.revision - 1
  returning match_id, user_id
), won as (
  select a.*, date_trunc('milliseconds', least(now() + make_interval(secs => $20), coalesce(a.window_expires_at, 'infinity'))) as expires_at
  from permitted a join complete using (index) join counted using (match_id, user_id)
), keyed as (
  insert into idempotency_keys (key, user_id, fingerprint, status, body, location)
  select key, user_id, fingerprint, 201, replace(body, $21, to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), location
  from won where key is not null
), reserved as (
  insert into reservations (id, match_id, sector_id, user_id, session_token, status, quantity, together, total_cents, currency, expires_at)
  select id, match_id, sector_id, user_id, case when queue_required then session_token end, 'held', quantity, together,
         price_cents * quantity, currency, expires_at from won
), listed as (
  insert into reservation_seats (reservation_id, seat_id, position, sector, row_label, number, price_cents)
  select won.id, p.seat_id, p.position, won.sector, l.row_label, l.number, won.price_cents
  from won join proposed p using (index) join locked l on l.id = p.seat_id
), held as (
  update seats s set status = 'held', reservation_id = won.id, expires_at = won.expires_at
  from proposed p join won using (index)
  where s.id = p.seat_id and s.id = any(array(select p.seat_id from proposed p join won using (index)))
)
select r.index, won.index is not null as won, won.expires_at as "expiresAt", r.currency, r.sale_status as "saleStatus", r.opens_at as "opensAt",
       r.queue_required as "queueRequired", r.max_tickets_per_fan as limit, r.window_user as "windowUser", r.window_match as "windowMatch",
       r.window_over as "windowOver", r.window_end as "windowEnd",
       case when won.index is null then array(
         select p.seat_id::text from proposed p join locked l on l.id = p.seat_id and not l.free where p.index = r.index) else '{}' end as gone,
       case when won.index is null then array(
         select p.seat_id::text from proposed p where p.index = r.index and not exists (select from locked l where l.id = p.seat_id)) else '{}' end as busy
from ruled r left join won using (index)`;

/** How the session plans it; see above. */
export const HOLD_PLANNING = '-c enable_nestloop=off -c enable_mergejoin=off -c enable_seqscan=off -c jit=off';

/** The rows as the statement's parameters: one array a column. */
export function holdParameters(rows: readonly HoldRow[], holdSeconds: number): unknown[] {
  const seats = rows.flatMap(({ seatIds }, index) =>
    seatIds.map((seatId, position) => ({ index, seatId, position: position + 1 })),
  );
  return [
    rows.map((_, index) => index),
    rows.map((row) => row.reservationId),
    rows.map((row) => row.matchId),
    rows.map((row) => row.sectorId),
    rows.map((row) => row.sector),
    rows.map((row) => row.userId),
    rows.map((row) => row.sessionToken),
    rows.map((row) => row.quantity),
    rows.map((row) => row.together),
    rows.map((row) => row.priceCents),
    rows.map((row) => row.taken),
    rows.map((row) => row.revision),
    rows.map((row) => row.key?.key ?? null),
    rows.map((row) => row.key?.fingerprint ?? null),
    rows.map((row) => row.key?.body ?? null),
    rows.map((row) => row.key?.location ?? null),
    seats.map(({ index }) => index),
    seats.map(({ seatId }) => seatId),
    seats.map(({ position }) => position),
    holdSeconds,
    EXPIRY_PLACEHOLDER.toISOString(),
  ];
}
