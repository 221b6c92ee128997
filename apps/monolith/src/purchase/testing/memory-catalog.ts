import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import { type SectorForSale } from '../application/ports.ts';
import { MatchesForSale, type MatchForSale } from '../application/sale-ports.ts';
import { SeatInventory, type SeatState, type SectorState } from '../availability/application/ports.ts';
import { isFree, tables, type MatchRow, type SeatRow } from './memory-tables.ts';

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
    return row && asMatch(row);
  }

  /** Calls no `scheduler.step`, so no other simulated process runs in between: every real process has the sectors in its cache. */
  sector(sectorId: string): Promise<SectorForSale | undefined> {
    return Promise.resolve(this.all.find(({ id }) => id === sectorId));
  }

  sectors(matchId: string): Promise<readonly SectorForSale[]> {
    return Promise.resolve(this.all.filter((sector) => sector.matchId === matchId));
  }

  async gates(matchId: string): Promise<ReadonlyMap<string, string | null>> {
    return new Map((await this.sectors(matchId)).map(({ name, gate }) => [name, gate]));
  }
}

function asMatch({ id, saleStatus, queueRequired, maxTicketsPerFan }: MatchRow): MatchForSale {
  const kickoffAt = new Date(Date.UTC(2026, 5, 1));
  const texts = { name: 'Home vs Away', venue: 'Arena', currency: 'EUR' };
  return { id, ...texts, kickoffAt, maxTicketsPerFan, queueRequired, saleStatus, opensAt: null };
}

/** Reads committed seat states outside of a transaction. */
export class MemorySeatInventory extends SeatInventory {
  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  layOut(): Promise<never> {
    return notNeeded('layOut');
  }

  states(): Promise<never> {
    return notNeeded('states');
  }

  async seats(sectorId: string): Promise<readonly SeatState[]> {
    const now = this.db.scheduler.nowMs;
    return (await this.readSeats(sectorId)).map((seat): SeatState => {
      const status = isFree(seat, now) ? 'available' : seat.status;
      return { ...seat, seatId: seat.id, status, x: null, y: null };
    });
  }

  async sectorState(matchId: string, sectorId: string): Promise<SectorState & { readonly othersHaveSeats: boolean }> {
    const seats = await this.readSeats(sectorId);
    const now = this.db.scheduler.nowMs;
    const others = this.db.rows(tables.seats, (seat) => seat.matchId === matchId && seat.sectorId !== sectorId);
    return { ...this.state(sectorId, seats), othersHaveSeats: others.some((seat) => isFree(seat, now)) };
  }

  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await this.db.scheduler.step('reads the sectors of seats');
    const known = seatIds.flatMap((seatId) => this.db.read(tables.seats, seatId) ?? []);
    return new Map(known.filter((seat) => seat.matchId === matchId).map(({ id, sectorId }) => [id, sectorId]));
  }

  private async readSeats(sectorId: string): Promise<SeatRow[]> {
    await this.db.scheduler.step(`reads the seats of ${sectorId}`);
    return this.db.rows(tables.seats, (seat) => seat.sectorId === sectorId);
  }

  private state(sectorId: string, seats: readonly SeatRow[]): SectorState {
    const now = this.db.scheduler.nowMs;
    const available = seats.filter((seat) => isFree(seat, now)).length;
    const held = seats.filter((seat) => seat.status === 'held' && !isFree(seat, now));
    const [sold, blocked] = (['sold', 'blocked'] as const).map((status) => seats.filter((seat) => seat.status === status).length);
    const nextExpiryAt = held.length > 0 ? new Date(Math.min(...held.map(({ expiresAtMs }) => expiresAtMs ?? 0))) : null;
    return { sectorId, available, held: held.length, sold: sold ?? 0, blocked: blocked ?? 0, nextExpiryAt };
  }
}

/** Stands for a method that no simulated use case calls. */
function notNeeded(method: string): Promise<never> {
  return Promise.reject(new Error(`this fake does not implement ${method}`));
}
