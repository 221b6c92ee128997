import { SeatHolds, type HoldOutcome, type HoldWish, type MatchesForSale } from '../application/ports.ts';
import type { BatchedSeatHolds } from './batched-seat-holds.ts';
import type { SeatNews } from './seat-news.ts';

/**
 * Several lanes side by side, each with its own connection and its own sectors, so that while one commits another is chosen
 * for. By sector: two lanes over the same seats would only take them from each other.
 */
export class SeatHoldLanes extends SeatHolds {
  private readonly prepared = new Set<string>();

  constructor(
    private readonly lanes: readonly BatchedSeatHolds[],
    private readonly matches: MatchesForSale,
    private readonly news: SeatNews,
  ) {
    super();
  }

  take(wish: HoldWish): Promise<HoldOutcome> {
    if (!this.prepared.has(wish.matchId)) void this.prepare(wish.matchId).catch(() => this.prepared.delete(wish.matchId));
    return this.laneOf(wish.sector.id).take(wish);
  }

  /** Learns the other sectors of a match as soon as somebody wants one: at its first touch a sector costs its buyer 25 ms. */
  private async prepare(matchId: string): Promise<void> {
    this.prepared.add(matchId);
    for (const { id } of await this.matches.sectors(matchId)) await this.laneOf(id).prepare(id);
  }

  private laneOf(sectorId: string): BatchedSeatHolds {
    const lane = this.lanes[Number.parseInt(sectorId.slice(-6), 16) % this.lanes.length];
    if (!lane) throw new Error('there is no lane');
    return lane;
  }

  /** Nest asks every provider that has this. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()));
    await this.news.close();
  }
}
