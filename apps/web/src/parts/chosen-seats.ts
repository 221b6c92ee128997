import type { Seat } from '../api/types.ts';

interface Choice {
  chosen: string[];
  /** The fan tried to choose one seat more than allowed. */
  isOverLimit: boolean;
}

/** Removes a chosen seat; adds an available seat while fewer than `maxSeats` are chosen; ignores any other seat. */
export function toggleSeat({ chosen, isOverLimit }: Choice, seat: Pick<Seat, 'id' | 'status'>, maxSeats: number): Choice {
  if (chosen.includes(seat.id)) return { chosen: chosen.filter((id) => id !== seat.id), isOverLimit: false };
  if (seat.status !== 'available') return { chosen, isOverLimit };
  if (chosen.length >= maxSeats) return { chosen, isOverLimit: true };
  return { chosen: [...chosen, seat.id], isOverLimit: false };
}
