import { namedSql } from '#platform/postgres/named-sql';

const COLUMNS = `id, url, events, secret, created_by as "createdBy", created_at as "createdAt"`;

export const ADD_WEBHOOK = namedSql<{ id: string; url: string; events: readonly string[]; secret: string; by: string }>(
  'add-webhook',
  `insert into webhooks (id, url, events, secret, created_by) values (:id::uuid, :url, :events::text[], :secret, :by::uuid)
   returning ${COLUMNS}`,
);

export const COUNT_WEBHOOKS = `select count(*)::int as count from webhooks where deleted_at is null`;

export const LIST_WEBHOOKS = namedSql<{ before: string | null; limit: number }>(
  'list-webhooks',
  `select ${COLUMNS},
          (select count(*) from webhook_deliveries d where d.webhook_id = w.id and state = 'pending')::int as pending,
          (select count(*) from webhook_deliveries d where d.webhook_id = w.id and state = 'failed')::int as failed
   from webhooks w where deleted_at is null and (:before::uuid is null or id < :before::uuid) order by id desc limit :limit`,
);

export const FIND_WEBHOOK = namedSql<{ id: string }>(
  'find-webhook',
  `select ${COLUMNS} from webhooks where id = :id::uuid and deleted_at is null`,
);

/** What was not sent yet is given up. */
export const DELETE_WEBHOOK = namedSql<{ id: string }>(
  'delete-webhook',
  `with deleted as (
     update webhooks set deleted_at = clock_timestamp() where id = :id::uuid and deleted_at is null returning ${COLUMNS}
   ), given_up as (
     update webhook_deliveries set state = 'failed', last_error = 'the webhook was deleted'
     where webhook_id = (select id from deleted) and state = 'pending'
   ) select * from deleted`,
);

export const WANTED_EVENTS = `select distinct unnest(events) as type from webhooks where deleted_at is null`;

export const WEBHOOKS_FOR = `
  select id, events, created_at as "createdAt" from webhooks where deleted_at is null order by id`;
/** `deliveries` is a JSON array. The deliveries about one subject are sent in its order. */
export const PLAN_DELIVERIES = namedSql<{ deliveries: string }>(
  'plan-deliveries',
  `insert into webhook_deliveries (id, webhook_id, event_id, type, subject_id, body, created_at)
   select id, "webhookId", "eventId", type, "subjectId", body, "createdAt"
   from rows from (jsonb_to_recordset(:deliveries::jsonb)
     as (id uuid, "webhookId" uuid, "eventId" uuid, type text, "subjectId" uuid, body text, "createdAt" timestamptz))
     with ordinality as d(id, "webhookId", "eventId", type, "subjectId", body, "createdAt", position)
   order by position on conflict (webhook_id, event_id) do nothing`,
);

export const WEBHOOKS_WITH_DUE = `
  select id from webhooks w where deleted_at is null
    and exists (select from webhook_deliveries d where d.webhook_id = w.id and state = 'pending' and next_attempt_at <= now())`;

/**
 * Takes deliveries that are due. Of each subject only the oldest that was not accepted yet: the next one waits for it. A process that
 * dies keeps them for a minute; then another one sends them again.
 */
export const CLAIM_DELIVERIES = namedSql<{ webhookId: string; limit: number }>(
  'claim-deliveries',
  `with due as (
     select id from webhook_deliveries d
     where webhook_id = :webhookId::uuid and state = 'pending' and next_attempt_at <= now()
       and not exists (
         select from webhook_deliveries earlier
         where earlier.webhook_id = d.webhook_id and earlier.subject_id = d.subject_id and earlier.state = 'pending'
           and earlier.number < d.number)
     order by next_attempt_at, number limit :limit for update skip locked
   )
   update webhook_deliveries d set attempts = attempts + 1, next_attempt_at = now() + interval '1 minute'
   from due, webhooks w where d.id = due.id and w.id = d.webhook_id and w.deleted_at is null
   returning d.id, d.body, d.attempts, w.url, w.secret`,
);

export const MARK_DELIVERED = namedSql<{ id: string; status: number }>(
  'mark-delivered',
  `update webhook_deliveries set state = 'delivered', delivered_at = now(), last_status = :status::int, last_error = null
   where id = :id::uuid and state = 'pending'`,
);

export const MARK_NOT_ACCEPTED = namedSql<{ id: string; status: number | null; error: string; afterSeconds: number }>(
  'mark-not-accepted',
  `update webhook_deliveries set last_status = :status::int, last_error = :error,
     next_attempt_at = now() + make_interval(secs => :afterSeconds::int),
     state = case when now() + make_interval(secs => :afterSeconds::int) > give_up_at then 'failed' else 'pending' end
   where id = :id::uuid and state = 'pending' returning state`,
);

const DELIVERY_COLUMNS = `id, event_id as "eventId", type, state, attempts, last_status as "lastStatus", last_error as "lastError",
  case when state = 'pending' then next_attempt_at end as "nextAttemptAt", created_at as "createdAt", delivered_at as "deliveredAt", body`;

export const LIST_DELIVERIES = namedSql<{ webhookId: string; state: string | null; before: string | null; limit: number }>(
  'list-deliveries',
  `select ${DELIVERY_COLUMNS} from webhook_deliveries
   where webhook_id = :webhookId::uuid and (:state::text is null or state = :state::text)
     and (:before::uuid is null or id < :before::uuid) order by id desc limit :limit`,
);

export const SEND_AGAIN = namedSql<{ webhookId: string; id: string }>(
  'send-delivery-again',
  `update webhook_deliveries set state = 'pending', next_attempt_at = now(), give_up_at = now() + interval '24 hours', delivered_at = null
   where id = :id::uuid and webhook_id = :webhookId::uuid returning ${DELIVERY_COLUMNS}`,
);
