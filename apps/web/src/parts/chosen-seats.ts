import type { Seat } from '../api/types.ts';

interface Choice {
  chosen: string[];
  /** The fan asked for one seat more than allowed. */
  atLimit: boolean;
}

/** A chosen seat is given up, a free one is added while there are fewer than `most`, any other changes nothing. */
export function afterToggle({ chosen, atLimit }: Choice, seat: Pick<Seat, 'id' | 'status'>, most: number): Choice {
  if (chosen.includes(seat.id)) return { chosen: chosen.filter((id) => id !== seat.id), atLimit: false };
  if (seat.status !== 'available') return { chosen, atLimit };
  return chosen.length >= most ? { chosen, atLimit: true } : { chosen: [...chosen, seat.id], atLimit: false };
}
