import { namedSql } from '#platform/postgres/named-sql';

/** A search. Null does not restrict it. */
export interface AuditSearch {
  readonly actor: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly matchId: string | null;
  readonly since: string | null;
  readonly until: string | null;
  /** The entry after which the page begins. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * The newest entries that match, newest first. It is sent unprepared: PostgreSQL plans it for these values, drops the conditions of
 * missing filters, and reads the index of the filter from its end. With 5 million rows each search took less than 100 ms
 * (bench/experiments.md).
 */
export const SEARCH_AUDIT_LOG = namedSql<AuditSearch>(
  'search-audit-log',
  `
  select id, at, actor, roles, action, target_type as "targetType", target_id as "targetId", match_id as "matchId", before, after,
         request_id as "requestId", address
  from audit_log
  where (:actor::text is null or actor = :actor::text)
    and (:action::text is null or action = :action::text)
    and (:target::text is null or target_id = :target::text)
    and (:matchId::uuid is null or match_id = :matchId::uuid)
    and (:since::timestamptz is null or at >= :since::timestamptz)
    and (:until::timestamptz is null or at < :until::timestamptz)
    and (:after::uuid is null or (at, id) < (select at, id from audit_log where id = :after::uuid))
  order by at desc, id desc
  limit :limit`,
);
