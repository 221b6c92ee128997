import { whyNotParameters } from './hold-parameters.ts';
import { IS_FREE, TEXTS, type HoldRow } from './hold-statement.ts';

/** What the rules need to say why a wish was not met. */
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
  /** Somebody was paying for, or getting, other seats of this fan. */
  readonly fanBusy: boolean;
  /** Proposed seats that have somebody. */
  readonly gone: readonly string[];
  /** Proposed seats that somebody is taking this moment. */
  readonly busy: readonly string[];
  /** Proposed seats that changed since memory looked, in whatever way: it has to look again. */
  readonly moved: readonly string[];
}

/**
 * What stood in the way of wishes that HOLD_BATCH did not meet, a moment later. It decides nothing: if nothing stands there
 * any more the wish is simply tried again. Everything is reached by key, as there.
 */
const WHY_NOT_HELD = `
with asked as materialized (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], ${TEXTS('$5')}) as a(index, match_id, user_id, revision, session_token)
), proposed as materialized (
  select * from unnest($6::int[], $7::uuid[]) as p(index, seat_id)
), lying as materialized (
  select s.id, ${IS_FREE} as free from seats s where s.ctid = any($8::tid[])
), locked as materialized (
  select s.id from seats s where s.ctid = any($8::tid[]) for no key update skip locked
), unlocked as materialized (
  select f.match_id, f.user_id from fan_seats f where f.user_id = any($3) and f.match_id = any($2) for no key update skip locked
)
select a.index, jsonb_build_object(
  'saleStatus', case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end,
  'opensAtMs', extract(epoch from m.opens_at) * 1000, 'queueRequired', m.queue_required, 'limit', m.max_tickets_per_fan,
  'windowUser', w.user_id, 'windowMatch', w.match_id, 'windowOver', coalesce(w.expires_at <= now(), false), 'windowEnd', w.end_reason,
  'fanBusy', a.revision > 0 and not exists (select from unlocked u where u.user_id = a.user_id and u.match_id = a.match_id),
  'gone', array(select seat_id from proposed p join lying on id = seat_id where p.index = a.index and not free),
  'busy', array(select seat_id from proposed p join lying on id = seat_id
                where p.index = a.index and free and not exists (select from locked where locked.id = seat_id)),
  'moved', array(select seat_id from proposed p where p.index = a.index and not exists (select from lying where id = seat_id))) as facts
from asked a join (select * from matches where id = any($2)) m on m.id = a.match_id
     left join (select * from purchase_windows where session_token = any(${TEXTS('$5')})) w
       on m.queue_required and w.session_token = a.session_token`;

/** The statement for these rows; `index` counts them from 1. */
export function whyNotHeld(rows: readonly HoldRow[]): { name: string; text: string; values: unknown[] } {
  return { name: 'why-not-held', text: WHY_NOT_HELD, values: whyNotParameters(rows) };
}
