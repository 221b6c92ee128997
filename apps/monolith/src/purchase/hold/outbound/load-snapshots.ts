import { SectorMap } from '#domain/purchase/sector-map';
import { runUnprepared } from '#platform/postgres/database';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { LRUCache } from 'lru-cache';
import type { DataSource } from 'typeorm';
import { SEAT_STATES, SECTOR_SEATS, type SeatStates, type SectorSeats } from './sector-seats.sql.ts';
import { SectorSnapshot, type SectorSnapshots } from './sector-snapshot.ts';

/** Snapshots that were not used for this time are dropped, because a process runs much longer than the sale of one match. */
const UNUSED_MS = 600_000;
/** Maximum number of snapshots in memory. That of a sector of 2,000 seats takes about half a megabyte. */
const MAX_SECTORS = 2000;

/** Creates the cache of sector snapshots of one process. */
export function sectorSnapshots(dataSource: DataSource): SectorSnapshots {
  return new LRUCache<string, SectorSnapshot>({
    max: MAX_SECTORS,
    ttl: UNUSED_MS,
    ttlResolution: 1000,
    updateAgeOnGet: true,
    fetchMethod: (sectorId) => loadSnapshot(dataSource, sectorId),
  });
}

/** The listener that applies the broadcasts of other processes to the loaded snapshots. */
export function seatChangesFor(snapshots: SectorSnapshots) {
  return {
    taken: (sectorId: string, seatIds: readonly string[], untilMs: number): void =>
      snapshots.peek(sectorId)?.takenElsewhere(seatIds, untilMs),
    moving: (sectorId: string, seatIds: readonly string[], untilMs: number): void =>
      snapshots.peek(sectorId)?.movingToQuota(seatIds, untilMs),
    freed: (sectorId: string): void => snapshots.peek(sectorId)?.changed(),
    missed: (): void => {
      for (const snapshot of snapshots.values()) snapshot.broadcastLost();
    },
  };
}

/** Loads the snapshot of a sector from the database. For an unknown sector the snapshot has no seats. */
async function loadSnapshot(dataSource: DataSource, sectorId: string): Promise<SectorSnapshot> {
  // Both statements are an aggregate without GROUP BY, which always is one row.
  const read = async <R>(statement: PreparedStatement): Promise<R> => (await runUnprepared<[R]>(dataSource, statement))[0];
  const readStates = (): Promise<SeatStates> => read(SEAT_STATES.with({ sectorId }));
  const [seats, states] = await Promise.all([read<SectorSeats>(SECTOR_SEATS.with({ sectorId })), readStates()]);
  const { numbers, rowIndices, ranks } = seats;
  const geometry = rowIndices.map((rowIndex, at) => ({ rowIndex, number: numbers[at] ?? null, rank: ranks[at] ?? 0 }));
  const snapshot = new SectorSnapshot(new SectorMap(geometry), seats, readStates);
  snapshot.apply(states);
  return snapshot;
}
