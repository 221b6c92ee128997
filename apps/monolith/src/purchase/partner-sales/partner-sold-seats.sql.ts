import { namedSql } from '#platform/postgres/named-sql';
import { currentStatus } from '../seat-is-free.api.ts';

/** A seat of ours that a partner has reported as sold. */
export interface PartnerSoldSeat {
  readonly seatId: string;
  readonly sectorId: string;
  /** A seat whose hold has expired is `available`, or `blocked` if it belongs to a quota. */
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  readonly isInQuota: boolean;
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
         ${currentStatus('seats')} as status, quota_id is not null as "isInQuota",
         -- Only for a blocked seat: a seat that was unblocked keeps the row of its old sale.
         (select jsonb_build_object('source', b.source, 'reference', b.reference) from seat_blocks b
          where b.seat_id = seats.id and seats.status = 'blocked') as "soldBy"
  from seats where id = any(:seatIds::uuid[]) and match_id = :matchId order by id for update`,
);
