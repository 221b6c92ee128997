import type { SeatChanges, SeatList } from './types.ts';

export interface CachedSeats {
  /** Identifies this state of the seats. It is the same in every replica. */
  etag: string;
  list: SeatList;
}

/** Enough for a fan who switches between a few sectors. */
const maxSectors = 8;

/**
 * The seats of the last opened sectors. A list of 2,000 seats has 200 KB, so for a cached sector the page requests only the
 * changes. The server sends the full list when it no longer knows the cached ETag.
 */
export class SeatCache {
  private readonly sectors = new Map<string, CachedSeats>();

  get(sectorId: string): CachedSeats | undefined {
    return this.sectors.get(sectorId);
  }

  store(sectorId: string, cached: CachedSeats): SeatList {
    this.sectors.delete(sectorId);
    this.sectors.set(sectorId, cached);
    const [oldest] = this.sectors.keys();
    if (this.sectors.size > maxSectors && oldest) this.sectors.delete(oldest);
    return cached.list;
  }
}

/** Applies an answer to the cached seats. Unchanged seats stay the same objects, so that React draws only changed seats again. */
export function applySeatAnswer(cached: SeatList | undefined, answer: SeatList | SeatChanges): SeatList {
  if (!('since' in answer) || !cached) return answer as SeatList;
  if (answer.items.length === 0) return cached;
  const statuses = new Map(answer.items.map(({ id, status }) => [id, status]));
  const items = cached.items.map((seat) => {
    const status = statuses.get(seat.id) ?? seat.status;
    return status === seat.status ? seat : { ...seat, status };
  });
  return { version: answer.version, items };
}
