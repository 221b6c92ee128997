import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../seat-is-free.api.ts';
import type { PartnerSale } from './seat-conflicts.ts';

/** A seat of ours that a partner has reported as sold. */
export interface PartnerSoldSeat {
  readonly seatId: string;
  readonly sectorId: string;
  /** A seat whose hold has expired is `available`. */
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  readonly heldUntil: Date | null;
  /** The partner's sale that blocked this seat. Null if no partner's sale blocked it. */
  readonly soldBy: { readonly source: string; readonly reference: string } | null;
}

/**
 * Locks the seats that a partner has sold. They are locked in the order of their ids, like in all code that waits for locks of
 * seats, so there are no deadlocks. Rows are reached by key only: a scan would conflict with all buyers. Seats that are not of this
 * match are missing from the result.
 */
export const LOCK_SEATS = namedSql<{ readonly matchId: string; readonly seatIds: readonly string[] }>(
  'lock-seats-of-partner-sale',
  `
  select id as "seatId", sector_id as "sectorId", expires_at as "heldUntil",
         case when ${seatIsFree('seats')} then 'available' else status end as status,
         -- Only for a blocked seat: a seat that was unblocked keeps the row of its old sale.
         (select jsonb_build_object('source', b.source, 'reference', b.reference) from seat_blocks b
          where b.seat_id = seats.id and seats.status = 'blocked') as "soldBy"
  from seats where id = any(:seatIds::uuid[]) and match_id = :matchId order by id for update`,
);

/** Takes seats off sale, because a partner has sold them. The caller must have locked the seats. */
export const BLOCK_SEATS = namedSql<{ readonly seatIds: readonly string[] }>(
  'block-seats',
  `update seats set status = 'blocked', reservation_id = null, expires_at = null where id = any(:seatIds::uuid[])`,
);

/**
 * Records which partner (`source`) sold the seats. It is an upsert, because a seat that was unblocked and then sold by a partner
 * again still has its old row.
 */
export const RECORD_PARTNER_SALE = namedSql<PartnerSale & { readonly source: string; readonly eventId: string }>(
  'record-partner-sale',
  `
  insert into seat_blocks (seat_id, match_id, source, event_id, reference)
  select id, :matchId, :source, :eventId, :reference from unnest(:seatIds::uuid[]) as s(id)
  on conflict (seat_id) do update set source = excluded.source, event_id = excluded.event_id, reference = excluded.reference,
    blocked_at = now()`,
);
