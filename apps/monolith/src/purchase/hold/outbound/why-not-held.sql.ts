import type { StoredWindow } from '#domain/purchase/buying-rules';
import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.api.ts';
import type { WhyNotHeldParameters } from './hold-batch-parameters.ts';
import { texts } from './hold-batch.sql.ts';

/**
 * Why a request was not held: the facts that the domain's rules need to refuse it, and the proposed seats that could not be held.
 */
export interface HoldFacts {
  /** Status of the sale. A scheduled sale whose opening time has come on the database's clock is `open`. */
  readonly saleStatus: string;
  readonly opensAtMs: number | null;
  readonly queueRequired: boolean;
  readonly limit: number;
  /** The turn that is stored under the session token of the request. Null if there is none, or if the match has no waiting room. */
  readonly window: StoredWindow | null;
  /** True if another transaction has locked the fan's row in `fan_seats`: it pays for other seats of this fan, or adds some. */
  readonly fanBusy: boolean;
  /** Ids of proposed seats that have an owner. */
  readonly gone: readonly string[];
  /** Ids of proposed seats that another transaction has locked. */
  readonly busy: readonly string[];
  /** Ids of proposed seats whose row has moved since the last refresh. The snapshot needs a refresh. */
  readonly moved: readonly string[];
}

/** A row of the result of WHY_NOT_HELD: the facts about one request. `index` numbers the requests from 1. */
export interface WhyNotHeldRow {
  readonly index: number;
  readonly facts: HoldFacts;
}

/**
 * Reads, right after HOLD_BATCH, why that statement did not hold some of its requests. WHY_NOT_HELD decides nothing: if the
 * reason is gone meanwhile, the request is tried again. Every row is found by key, as in HOLD_BATCH.
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
  -- Rows that are still where the snapshot had them.
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
  'window', case when w.session_token is not null then jsonb_build_object(
    'userId', w.user_id, 'matchId', w.match_id, 'isOver', w.expires_at <= now(), 'endReason', w.end_reason) end,
  'fanBusy', a.revision > 0 and not exists (select from unlocked u where u.user_id = a.user_id and u.match_id = a.match_id),
  'gone', array(select seat_id from proposed p join found on id = seat_id where p.index = a.index and not free),
  'busy', array(select seat_id from proposed p join found on id = seat_id
                where p.index = a.index and free and not exists (select from locked where locked.id = seat_id)),
  'moved', array(select seat_id from proposed p where p.index = a.index and not exists (select from found where id = seat_id))) as facts
from asked a join (select * from matches where id = any(:matchIds)) m on m.id = a.match_id
     left join (select * from purchase_windows where session_token = any(${texts(':sessionTokens')})) w
       on m.queue_required and w.session_token = a.session_token`,
);
