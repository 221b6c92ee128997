import type { Conflict } from '#application/loaded-effect';
import type { ElsewhereSeat } from './ports.ts';

export interface SoldElsewhere {
  readonly matchId: string;
  /** What the partner calls the sale. */
  readonly reference: string;
  readonly seatIds: readonly string[];
}

/** Why the seat cannot be left to the partner; nothing where it can, or is already. */
export function conflictOf(
  seatId: string,
  seat: ElsewhereSeat | undefined,
  { matchId, reference }: SoldElsewhere,
  source: string,
): Conflict | undefined {
  const conflict = (code: Conflict['code'], why: string): Conflict => ({
    subject: seatId,
    code,
    detail: `sold by ${source} as ${reference}: ${why}`,
  });
  if (!seat) return conflict('SEAT_UNKNOWN', `match ${matchId} has no such seat`);
  if (seat.status === 'available') return undefined;
  if (seat.status === 'sold') return conflict('SEAT_SOLD', 'it is sold here, too');
  if (seat.status === 'held') return conflict('SEAT_HELD', 'a fan is buying it this moment');
  // The same sale told again, as another event or in a second part.
  if (seat.soldBy?.source === source && seat.soldBy.reference === reference) return undefined;
  return conflict(
    'SEAT_BLOCKED',
    seat.soldBy ? `so it is by ${seat.soldBy.source} as ${seat.soldBy.reference}` : 'the house keeps it',
  );
}

/** When the first of the holds that are in the way ends. */
export function firstEnd(seats: readonly ElsewhereSeat[]): Date | undefined {
  const ends = seats.flatMap(({ status, heldUntil }) => (status === 'held' && heldUntil ? [heldUntil.getTime()] : []));
  return ends.length > 0 ? new Date(Math.min(...ends)) : undefined;
}
