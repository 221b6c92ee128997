import type { Conflict } from '#application/loaded-effect';
import type { PartnerSoldSeat } from './partner-sold-seats.sql.ts';

/** A sale of our seats that a partner reports. */
export interface PartnerSale {
  readonly matchId: string;
  /** The partner's own id of the sale. */
  readonly reference: string;
  readonly seatIds: readonly string[];
}

/**
 * The reason why a seat cannot be blocked for the partner. Undefined if the seat can be blocked, or this sale has blocked it
 * before.
 */
export function conflictOf(
  seatId: string,
  seat: PartnerSoldSeat | undefined,
  { matchId, reference }: PartnerSale,
  source: string,
): Conflict | undefined {
  const conflict = (code: Conflict['code'], reason: string): Conflict => ({
    subject: seatId,
    code,
    detail: `sold by ${source} as ${reference}: ${reason}`,
  });
  if (!seat) return conflict('SEAT_UNKNOWN', `match ${matchId} has no such seat`);
  if (seat.status === 'available') return undefined;
  if (seat.status === 'sold') return conflict('SEAT_SOLD', 'it is sold here too');
  if (seat.isInQuota) return conflict('SEAT_BLOCKED', 'it belongs to a quota');
  if (seat.status === 'held') return conflict('SEAT_HELD', 'a fan is buying it right now');
  // The partner reported the same sale again, in another event.
  if (seat.soldBy?.source === source && seat.soldBy.reference === reference) return undefined;
  if (!seat.soldBy) return conflict('SEAT_BLOCKED', 'it is blocked, but not by a partner sale');
  return conflict('SEAT_BLOCKED', `it was sold before by ${seat.soldBy.source} as ${seat.soldBy.reference}`);
}

/** The earliest end of a hold on these seats, without those of quotas. At that time the event is applied again. */
export function firstHoldEnd(seats: readonly PartnerSoldSeat[]): Date | undefined {
  const ends = seats.flatMap(({ status, heldUntil, isInQuota }) =>
    status === 'held' && heldUntil && !isInQuota ? [heldUntil.getTime()] : [],
  );
  return ends.length > 0 ? new Date(Math.min(...ends)) : undefined;
}
