import type { Seat } from '#contracts/seats';

/** The seats that the fan has chosen on the map and not yet held. */
interface Choice {
  chosen: string[];
  /** True if the fan has just tried to choose one seat more than allowed. */
  isOverLimit: boolean;
}

/**
 * The choice after a click on `seat`. A chosen seat is removed; an available seat is added while fewer than `maxSeats` are
 * chosen; any other seat is ignored.
 */
export function toggleSeat({ chosen, isOverLimit }: Choice, seat: Pick<Seat, 'id' | 'status'>, maxSeats: number): Choice {
  if (chosen.includes(seat.id)) return { chosen: chosen.filter((id) => id !== seat.id), isOverLimit: false };
  if (seat.status !== 'available') return { chosen, isOverLimit };
  if (chosen.length >= maxSeats) return { chosen, isOverLimit: true };
  return { chosen: [...chosen, seat.id], isOverLimit: false };
}
