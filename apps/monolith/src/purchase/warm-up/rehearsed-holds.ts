import { SectorMap } from '#domain/purchase/sector-map';
import { randomUUID } from 'node:crypto';
import type { SectorForSale } from '../application/ports.ts';
import type { SeatHolds } from '../hold/application/ports.ts';
import { SectorSnapshot, type SectorSnapshots } from '../hold/outbound/sector-snapshot.ts';
import { FREE, type SeatStates } from '../hold/outbound/sector-seats.sql.ts';

const ROWS = 20;
const SEATS_PER_ROW = 50;
/** Enough for a batch of each writer connection at the same time. */
const REQUESTS_AT_ONCE = 512;

/**
 * Sends hold requests for a made-up sector through the hold queue. The sector is only in the memory of this process: the database
 * finds neither match nor seats and holds nothing. Afterwards V8 has compiled the queue, and the writer connections have their plans.
 */
export class RehearsedHolds {
  constructor(
    private readonly seatHolds: SeatHolds,
    private readonly snapshots: SectorSnapshots,
  ) {}

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const sector = madeUpSector();
      this.snapshots.set(sector.id, madeUpSnapshot());
      const ask = (): Promise<unknown> =>
        this.seatHolds.hold({ matchId: sector.matchId, userId: randomUUID(), sessionToken: undefined, sector, quantity: 2 });
      await Promise.allSettled(Array.from({ length: REQUESTS_AT_ONCE }, ask));
      this.snapshots.delete(sector.id);
    }
  }
}

function madeUpSector(): SectorForSale {
  return {
    ...{ id: randomUUID(), matchId: randomUUID(), name: 'Rehearsal', kind: 'seated', gate: null, wheelchair: false },
    ...{ priceCents: 100, capacity: ROWS * SEATS_PER_ROW, position: 1, currency: 'EUR' },
  };
}

/** A snapshot of free seats without ctids: no row of a real seat is found, so none is locked. */
function madeUpSnapshot(): SectorSnapshot {
  const seats = Array.from({ length: ROWS * SEATS_PER_ROW }, (_, rank) => ({
    ...{ rowIndex: Math.floor(rank / SEATS_PER_ROW), number: (rank % SEATS_PER_ROW) + 1, rank },
  }));
  const states: SeatStates = { letters: FREE.repeat(seats.length), ctids: [], nextExpiryMs: null };
  const properties = {
    ids: seats.map(() => randomUUID()),
    rows: seats.map(({ rowIndex }) => String(rowIndex)),
    numbers: seats.map(({ number }) => number),
  };
  const snapshot = new SectorSnapshot(new SectorMap(seats), properties, () => Promise.resolve(states));
  snapshot.apply(states);
  return snapshot;
}
