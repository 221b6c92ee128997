import { AS_OF, ofMatch, type Invariant } from './invariant.ts';

/** Invariants: every idempotency key has its answer, and no hold, order or message is stuck. */
export const flowInvariants: readonly Invariant[] = [
  {
    name: 'idempotency-keys',
    sentence:
      "every idempotency key has the answer its request got, and the reservation or order in that answer exists and is the same fan's",
    isGlobal: true,
    sql: `
      select k.key, coalesce(k.location, '/api/v1/reservations/' || k.made) as location,
             case when k.status is null or (k.body is null and k.made is null) then 'without an answer'
                  when k.status not between 200 and 299 then 'stores the answer ' || k.status || ', but only successful requests have an effect to store'
                  when (k.made is not null and r.id is null) or (k.location like '/api/v1/orders/%' and o.user_id is null)
                    then 'the reservation or order it made does not exist, or is another fan''s' end as problem
      from idempotency_keys k
        left join reservations r on r.id = k.made and r.user_id = k.user_id
        left join orders o on '/api/v1/orders/' || o.id = k.location and o.user_id = k.user_id`,
  },
  {
    name: 'lapsed-holds',
    sentence: 'no hold that expired more than 5 minutes ago still has the status held or ordered',
    sql: `
      select id as reservation_id, null::uuid as seat_id, expires_at,
             case when expires_at <= ${AS_OF} - interval '5 minutes' then 'expired, but was not ended' end as problem
      from reservations where status in ('held', 'ordered') and ${ofMatch('match_id')}
      union all
      select reservation_id, id, expires_at,
             case when expires_at <= ${AS_OF} - interval '5 minutes' then 'its hold expired, but the seat was not freed' end
      from seats where status = 'held' and ${ofMatch('match_id')}`,
  },
  {
    name: 'unpaid-orders',
    sentence: 'no order awaits its payment more than 15 minutes after its hold ended',
    sql: `
      select o.id as order_id, o.reservation_id, r.status as reservation_status,
             case when coalesce(r.ended_at, r.expires_at) <= ${AS_OF} - interval '15 minutes' then 'still awaits payment, which would come too late' end as problem
      from orders o left join reservations r on r.id = o.reservation_id
      where o.status = 'awaiting_payment' and ${ofMatch('o.match_id')}`,
  },
  {
    name: 'cancelled-matches',
    sentence: 'no cancelled match is for sale, and an hour after the cancellation all its orders are refunded',
    sql: `
      select m.id as match_id, m.cancelled_at,
             case when m.cancelled_at is null then null
                  when m.sale_status <> 'closed' then 'cancelled, but its sale is ' || m.sale_status
                  when m.cancelled_at <= ${AS_OF} - interval '1 hour' and c.n > 0 then c.n || ' orders were not refunded' end as problem
      from matches m left join (select match_id, count(*) as n from orders where status = 'completed' group by match_id) c on c.match_id = m.id
      where ${ofMatch('m.id')}`,
  },
  {
    name: 'parked-messages',
    sentence: 'no outbox message is parked',
    isGlobal: true,
    sql: `
      select id as message_id, destination, event, left(last_error, 200) as last_error,
             case when parked_at is not null then 'parked after ' || attempts || ' attempt(s)' end as problem
      from outbox`,
  },
  {
    name: 'waiting-messages',
    sentence: 'no message has waited in the outbox for more than 15 minutes',
    isGlobal: true,
    sql: `
      select id as message_id, destination, event, attempts, left(last_error, 200) as last_error,
             case when created_at <= ${AS_OF} - interval '15 minutes' then 'waiting since ' || created_at end as problem
      from outbox where parked_at is null`,
  },
];
