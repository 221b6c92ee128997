import { namedSql } from '#platform/postgres/named-sql';
import { quotaColumns } from '../tree/quotas.sql.ts';

/**
 * True for invitations that end within 24 hours, were issued earlier than that, and nobody was reminded of. The mail of an invitation
 * that was issued later has just arrived. Before its quota opens nobody can claim it, so the reminder waits.
 */
const reminderIsDue = `
  i.status = 'open' and i.reminded_at is null and i.expires_at > now() and i.expires_at <= now() + interval '24 hours'
  and i.created_at < i.expires_at - interval '24 hours' and (q.opens_at is null or q.opens_at <= now())`;

/** A page of invitations whose reminder is due. `$1` is the last one of the page before, or null. */
export const DUE_REMINDERS = `
  select i.id, i.match_id as "matchId", i.reservation_id as "reservationId"
  from invitations i join quotas q on q.id = i.quota_id
  where ${reminderIsDue} and ($1::uuid is null or i.id > $1) order by i.id limit $2`;

/**
 * Locks those of the invitations whose reminder is still due. Skipped: those that are being claimed, withdrawn or reminded of now, and
 * those that somebody has claimed since `reservationIds` was read.
 */
export const LOCK_DUE_REMINDERS = namedSql<{
  readonly ids: readonly string[];
  readonly reservationIds: readonly (string | null)[];
}>(
  'lock-due-reminders',
  `
  select i.id, i.email, i.name, i.user_id as "userId", i.locale, i.quantity, i.expires_at as "claimUntil", i.sector_id as "sectorId",
         q.name as "quotaName", q.price_cents as "priceCents"
  from unnest(:ids::uuid[], :reservationIds::uuid[]) as due(id, reservation_id)
    join invitations i on i.id = due.id and i.reservation_id is not distinct from due.reservation_id
    join quotas q on q.id = i.quota_id
  where ${reminderIsDue} order by i.id for update of i skip locked`,
);

export const MARK_REMINDED = namedSql<{ readonly ids: readonly string[] }>(
  'mark-invitations-reminded',
  `update invitations set reminded_at = now() where id = any(:ids::uuid[])`,
);

/**
 * True for quotas `q` whose contact should be told of the return now. `w.ahead` is how long before the return the notice is sent at
 * the earliest, and `w.until` at the latest. A quota that was created later than that gets none.
 */
const noticeIsDue = `
  q.status = 'open' and q.contact_email is not null
  and q.return_at > now() + w.until and q.return_at <= now() + w.ahead and q.created_at <= q.return_at - w.ahead`;

const windows = `(values ('week', interval '168 hours', interval '24 hours'), ('day', interval '24 hours', interval '0'))
  as w(notice, ahead, until)`;

/** The notices that are due and were not planned for this `return_at`. */
export const DUE_NOTICES = `
  select q.id as "quotaId", w.notice from quotas q cross join ${windows}
  where ${noticeIsDue} and not exists (
    select from quota_notices n where n.quota_id = q.id and n.notice = w.notice and n.return_at = q.return_at)
  order by q.return_at, q.id`;

/** Marks a notice as planned and returns its quota. No row if the notice was planned before, or is not due any more. */
export const PLAN_NOTICE = namedSql<{ readonly quotaId: string; readonly notice: string }>(
  'plan-quota-notice',
  `
  with planned as (
    insert into quota_notices (quota_id, notice, return_at)
    select q.id, w.notice, q.return_at from quotas q cross join ${windows}
    where q.id = :quotaId and w.notice = :notice and ${noticeIsDue}
    on conflict do nothing returning quota_id
  )
  select ${quotaColumns('q')} from quotas q join planned on planned.quota_id = q.id`,
);

/** Marks the notice of a return that takes effect in this transaction. No row if it was planned before. */
export const PLAN_RETURNED_NOTICE = namedSql<{ readonly quotaId: string; readonly returnAt: Date }>(
  'plan-returned-notice',
  `
  insert into quota_notices (quota_id, notice, return_at) values (:quotaId, 'returned', :returnAt)
  on conflict do nothing returning quota_id`,
);
