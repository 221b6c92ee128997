import type { MatchesForSale } from '../../application/ports.ts';
import { SeatHolds, type HoldOutcome, type HoldRequest } from '../application/ports.ts';
import type { BatchedSeatHolds } from './batched-seat-holds.ts';
import type { SectorSnapshots } from './sector-snapshots.ts';
import type { SeatChangeBroadcast } from './seat-change-broadcast.ts';

/** Learns the other sectors of a match as soon as somebody wants one: at its first touch a sector costs its buyer 25 ms. */
export class PreparedSeatHolds extends SeatHolds {
  private readonly prepared = new Set<string>();

  constructor(
    private readonly holds: BatchedSeatHolds,
    private readonly maps: SectorSnapshots,
    private readonly matches: MatchesForSale,
    private readonly news: SeatChangeBroadcast,
  ) {
    super();
  }

  take(wish: HoldRequest): Promise<HoldOutcome> {
    if (!this.prepared.has(wish.matchId)) void this.prepare(wish.matchId).catch(() => this.prepared.delete(wish.matchId));
    return this.holds.take(wish);
  }

  private async prepare(matchId: string): Promise<void> {
    this.prepared.add(matchId);
    for (const { id } of await this.matches.sectors(matchId)) await this.maps.of(id);
  }

  /** Nest asks every provider that has this. */
  async onApplicationShutdown(): Promise<void> {
    await this.holds.close();
    await this.news.close();
  }
}
