import type { MatchesForSale } from '../../application/ports.ts';
import { SeatHolds, type HoldOutcome, type HoldWish } from '../application/ports.ts';
import type { BatchedSeatHolds } from './batched-seat-holds.ts';
import type { SeatMaps } from './seat-maps.ts';
import type { SeatNews } from './seat-news.ts';

/** Learns the other sectors of a match as soon as somebody wants one: at its first touch a sector costs its buyer 25 ms. */
export class PreparedSeatHolds extends SeatHolds {
  private readonly prepared = new Set<string>();

  constructor(
    private readonly holds: BatchedSeatHolds,
    private readonly maps: SeatMaps,
    private readonly matches: MatchesForSale,
    private readonly news: SeatNews,
  ) {
    super();
  }

  take(wish: HoldWish): Promise<HoldOutcome> {
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
