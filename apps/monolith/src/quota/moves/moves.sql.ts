import { namedSql } from '#platform/postgres/named-sql';

/**
 * Adds a row to the ledger. It must follow the statement that moves the places, in the same transaction: the places are locked then,
 * so the rows of a place have ascending `seq`.
 */
export const ADD_MOVE = namedSql<{ readonly move: string; readonly seatIds: readonly string[] }>(
  'add-quota-move',
  `
  insert into quota_moves (id, match_id, kind, actor, approved_by, from_quota, to_quota, quantity, reason, seat_ids)
  select id, "matchId", kind, actor, "approvedBy", "from", "to", cardinality(:seatIds::uuid[]), reason, :seatIds::uuid[]
  from jsonb_to_record(:move::jsonb)
    as n(id uuid, "matchId" uuid, kind text, actor text, "approvedBy" text, "from" uuid, "to" uuid, reason text)
  returning at`,
);

/** A request lasts for a day, on the database's clock. */
export const ADD_REQUEST = namedSql<{ readonly request: string; readonly seatIds: readonly string[] }>(
  'add-quota-move-request',
  `
  insert into quota_move_requests (id, match_id, from_quota, to_quota, seat_ids, reason, rule, actor, requested_at, expires_at)
  select id, "matchId", "from", "to", :seatIds::uuid[], reason, rule, actor, clock_timestamp(), clock_timestamp() + interval '24 hours'
  from jsonb_to_record(:request::jsonb)
    as n(id uuid, "matchId" uuid, "from" uuid, "to" uuid, reason text, rule text, actor text)
  returning requested_at as at, expires_at as "expiresAt"`,
);

const requestColumns = `
  id, match_id as "matchId", from_quota as "from", to_quota as "to", seat_ids as "seatIds", reason, rule, actor,
  case when status = 'pending' and expires_at <= clock_timestamp() then 'expired' else status end as status,
  requested_at as at, expires_at as "expiresAt", decided_by as "decidedBy"`;

export const LOCK_REQUEST = namedSql<{ readonly id: string }>(
  'lock-quota-move-request',
  `select ${requestColumns} from quota_move_requests where id = :id for update`,
);

export const DECIDE_REQUEST = namedSql<{ readonly id: string; readonly status: string; readonly by: string | null }>(
  'decide-quota-move-request',
  `update quota_move_requests set status = :status, decided_by = :by, decided_at = clock_timestamp() where id = :id`,
);

export const ANY_EXPIRED_REQUEST = `
  select 1 from quota_move_requests where status = 'pending' and expires_at <= clock_timestamp() limit 1`;

/** Requests that nobody has decided in time. Those that another process ends now are skipped. */
export const LOCK_EXPIRED_REQUESTS = namedSql<{ readonly limit: number }>(
  'lock-expired-quota-move-requests',
  `
  select ${requestColumns} from quota_move_requests
  where status = 'pending' and expires_at <= clock_timestamp() order by expires_at limit :limit for update skip locked`,
);

export const PAGE_OF_LEDGER = `
  select id, at, kind, actor, approved_by as "approvedBy", from_quota as "from", to_quota as "to", quantity, reason,
         (select r.rule from quota_move_requests r where r.id = m.id) as rule
  from quota_moves m
  where match_id = $1 and ($2::uuid is null or seq > (select seq from quota_moves where id = $2)) order by seq limit $3`;

export const PAGE_OF_PENDING = `
  select ${requestColumns} from quota_move_requests
  where match_id = $1 and status = 'pending' and expires_at > clock_timestamp() and ($2::uuid is null or id > $2) order by id limit $3`;

/** For each kind of quota, how many places moved from it to the public. */
export const RETURNED_BY_KIND = `
  select f.kind, sum(m.quantity)::integer as returned
  from quota_moves m join quotas f on f.id = m.from_quota
  where m.match_id = $1 and m.to_quota is null group by f.kind`;

/**
 * Places that left the quotas of one kind and are in a quota of the kind `to` now, by that quota. `$2` and `$3` are the kinds. The
 * owner of a place is the target of its last move.
 */
export const CAME_BACK = `
  with steps as (
    select s.id, m.seq, m.to_quota, f.kind as "fromKind", t.kind as "toKind",
           row_number() over (partition by s.id order by m.seq desc) as nth_last
    from quota_moves m cross join unnest(m.seat_ids) as s(id)
      left join quotas f on f.id = m.from_quota left join quotas t on t.id = m.to_quota
    where m.match_id = $1
  ), gone as (
    select id, min(seq) as seq from steps where "fromKind" = $2 and "toKind" is distinct from $2 group by id
  )
  select steps.to_quota as "quotaId", count(*)::integer as places
  from steps join gone on gone.id = steps.id and gone.seq < steps.seq
  where steps.nth_last = 1 and steps."toKind" = $3 group by steps.to_quota`;
