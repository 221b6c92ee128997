import type { SeatChanges, SeatList } from './types.ts';

export interface KnownSeats {
  /** Names what is seen, the same in every replica. */
  tag: string;
  list: SeatList;
}

/** Sectors somebody goes back and forth between. */
const mostSectors = 8;

/**
 * The seats of the sectors looked at last. A sector of 2,000 is 200 KB; who has seen it asks only for what changed since, and
 * is given everything again when the server no longer knows what that was.
 */
export class SeatMemory {
  private readonly sectors = new Map<string, KnownSeats>();

  of(sectorId: string): KnownSeats | undefined {
    return this.sectors.get(sectorId);
  }

  keep(sectorId: string, known: KnownSeats): SeatList {
    this.sectors.delete(sectorId);
    this.sectors.set(sectorId, known);
    const [oldest] = this.sectors.keys();
    if (this.sectors.size > mostSectors && oldest) this.sectors.delete(oldest);
    return known.list;
  }
}

/** What is seen after an answer. Seats that did not change stay the same objects, so that only the others are drawn again. */
export function afterAnswer(known: SeatList | undefined, answer: SeatList | SeatChanges): SeatList {
  if (!('since' in answer) || !known) return answer as SeatList;
  if (answer.items.length === 0) return known;
  const statuses = new Map(answer.items.map(({ id, status }) => [id, status]));
  const items = known.items.map((seat) => {
    const status = statuses.get(seat.id) ?? seat.status;
    return status === seat.status ? seat : { ...seat, status };
  });
  return { version: answer.version, items };
}
