import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import { type SectorForSale } from '../application/ports.ts';
import { MatchesForSale, type MatchForSale } from '../application/sale-ports.ts';
import type { SectorReader, SectorSeat, SectorSummary } from '../hold/application/ports.ts';
import { isFree, tables, type SeatRow } from './memory-tables.ts';

/** The kick-off of every simulated match. */
export const KICKOFF_AT = new Date(Date.UTC(2026, 5, 1));
/** Text columns of every simulated match: no simulated use case reads them. */
const TEXTS = { name: 'Home vs Away', venue: 'Arena', currency: 'EUR', kickoffAt: KICKOFF_AT };

/**
 * Matches and sectors of the simulation. The sale's status is a row of the simulated database, so the sale can be closed while a
 * late payment is settled.
 */
export class MemoryMatches extends MatchesForSale {
  constructor(
    private readonly db: SimulatedDatabase,
    private readonly all: readonly SectorForSale[],
  ) {
    super();
  }

  async match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined> {
    if (tx) await inside(tx).statement(`reads match ${matchId}`);
    else await this.db.scheduler.step(`reads match ${matchId}`);
    const row = tx ? inside(tx).get(tables.matches, matchId) : this.db.read(tables.matches, matchId);
    return row && { ...TEXTS, ...row, opensAt: null };
  }

  /** Calls no `scheduler.step`, so no other simulated process runs in between: every real process has the sectors in its cache. */
  sector(sectorId: string): Promise<SectorForSale | undefined> {
    return Promise.resolve(this.all.find(({ id }) => id === sectorId));
  }

  sectors(matchId: string): Promise<readonly SectorForSale[]> {
    return Promise.resolve(this.all.filter((sector) => sector.matchId === matchId));
  }

  gates(): Promise<never> {
    return Promise.reject(new Error('no simulated use case reads gates'));
  }
}

/** Reads committed seats outside of a transaction. */
export class MemorySectorReader implements SectorReader {
  constructor(private readonly db: SimulatedDatabase) {}

  async seats(sectorId: string): Promise<readonly SectorSeat[]> {
    const now = this.db.scheduler.nowMs;
    const seats = await this.readSeats(sectorId);
    return seats.map((seat) => ({ ...seat, seatId: seat.id, status: isFree(seat, now) ? 'available' : seat.status }));
  }

  async sectorState(matchId: string, sectorId: string): Promise<SectorSummary> {
    const seats = await this.readSeats(sectorId);
    const now = this.db.scheduler.nowMs;
    const held = seats.filter((seat) => seat.status === 'held' && !isFree(seat, now));
    const others = this.db.rows(tables.seats, (seat) => seat.matchId === matchId && seat.sectorId !== sectorId);
    return {
      available: seats.filter((seat) => isFree(seat, now)).length,
      held: held.length,
      nextExpiryAt: held.length > 0 ? new Date(Math.min(...held.map(({ expiresAtMs }) => expiresAtMs ?? 0))) : null,
      othersHaveSeats: others.some((seat) => isFree(seat, now)),
    };
  }

  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await this.db.scheduler.step('reads the sectors of seats');
    const known = seatIds.flatMap((seatId) => this.db.read(tables.seats, seatId) ?? []);
    return new Map(known.filter((seat) => seat.matchId === matchId).map(({ id, sectorId }) => [id, sectorId]));
  }

  private async readSeats(sectorId: string): Promise<SeatRow[]> {
    await this.db.scheduler.step(`reads the seats of ${sectorId}`);
    const seats = this.db.rows(tables.seats, (seat) => seat.sectorId === sectorId);
    return seats.sort((a, b) => a.rowIndex - b.rowIndex || (a.number ?? 0) - (b.number ?? 0) || a.rank - b.rank);
  }
}
