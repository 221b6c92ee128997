import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.sql.ts';
import type { WhyNotHeldParameters } from './hold-batch-parameters.ts';
import { texts } from './hold-batch.sql.ts';

/**
 * Why a hold request was not held: the facts that the domain's rules decide by, and the proposed seats that could not be held.
 */
export interface HoldFacts {
  /** Status of the match's sale. A scheduled sale whose opening time has passed is `open`, by the database's clock. */
  readonly saleStatus: string;
  readonly opensAtMs: number | null;
  readonly queueRequired: boolean;
  /** How many tickets a fan may have for the match. */
  readonly limit: number;
  /** Owner of the purchase window that the request names; null if there is no such window. */
  readonly windowUser: string | null;
  readonly windowMatch: string | null;
  /** True when the purchase window has reached its expiry. */
  readonly windowOver: boolean;
  /** Why the purchase window has ended; null while it has not. */
  readonly windowEnd: string | null;
  /** True when another transaction has locked the fan's row in `fan_seats`, because it changes which seats this fan has. */
  readonly fanBusy: boolean;
  /** Ids of proposed seats that are not free any more. */
  readonly gone: readonly string[];
  /** Ids of proposed seats that another transaction has locked. */
  readonly busy: readonly string[];
  /** Ids of proposed seats whose row has another ctid since the last refresh. The sector snapshot needs a refresh. */
  readonly moved: readonly string[];
}

/** A row of WHY_NOT_HELD's result, one for each request. `index` is the request's position in the parameters, counted from 1. */
export interface WhyNotHeldRow {
  readonly index: number;
  readonly facts: HoldFacts;
}

/**
 * Reads, right after HOLD_BATCH, why some requests were not held. It decides nothing: if it finds no reason any more, the request
 * is tried again. Every table is reached by key, as in HOLD_BATCH.
 */
export const WHY_NOT_HELD = namedSql<WhyNotHeldParameters>(
  'why-not-held',
  `
with asked as materialized (
  select * from unnest(:indices::int[], :matchIds::uuid[], :userIds::uuid[], :revisions::int[], ${texts(':sessionTokens')})
                as a(index, match_id, user_id, revision, session_token)
), proposed as materialized (
  select * from unnest(:seatOwners::int[], :seatIds::uuid[]) as p(index, seat_id)
), found as materialized (
  -- Seats whose row still has the ctid that is in the sector snapshot.
  select s.id, ${seatIsFree('s')} as free from seats s where s.ctid = any(:seatCtids::tid[])
), locked as materialized (
  select s.id from seats s where s.ctid = any(:seatCtids::tid[]) for no key update skip locked
), unlocked as materialized (
  select f.match_id, f.user_id from fan_seats f where f.user_id = any(:userIds) and f.match_id = any(:matchIds)
  for no key update skip locked
)
select a.index, jsonb_build_object(
  'saleStatus', case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end,
  'opensAtMs', extract(epoch from m.opens_at) * 1000, 'queueRequired', m.queue_required, 'limit', m.max_tickets_per_fan,
  'windowUser', w.user_id, 'windowMatch', w.match_id, 'windowOver', coalesce(w.expires_at <= now(), false), 'windowEnd', w.end_reason,
  'fanBusy', a.revision > 0 and not exists (select from unlocked u where u.user_id = a.user_id and u.match_id = a.match_id),
  'gone', array(select seat_id from proposed p join found on id = seat_id where p.index = a.index and not free),
  'busy', array(select seat_id from proposed p join found on id = seat_id
                where p.index = a.index and free and not exists (select from locked where locked.id = seat_id)),
  'moved', array(select seat_id from proposed p where p.index = a.index and not exists (select from found where id = seat_id))) as facts
from asked a join (select * from matches where id = any(:matchIds)) m on m.id = a.match_id
     left join (select * from purchase_windows where session_token = any(${texts(':sessionTokens')})) w
       on m.queue_required and w.session_token = a.session_token`,
);
