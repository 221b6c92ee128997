import { SeatHolds, type HoldOutcome, type HoldWish } from '../application/ports.ts';
import type { BatchedSeatHolds } from './batched-seat-holds.ts';
import type { SeatNews } from './seat-news.ts';

/**
 * Several lanes side by side, each with its own connection and its own sectors, so that while one commits another is chosen
 * for. By sector: two lanes over the same seats would only take them from each other.
 */
export class SeatHoldLanes extends SeatHolds {
  constructor(
    private readonly lanes: readonly BatchedSeatHolds[],
    private readonly news: SeatNews,
  ) {
    super();
  }

  take(wish: HoldWish): Promise<HoldOutcome> {
    const lane = this.lanes[Number.parseInt(wish.sector.id.slice(-6), 16) % this.lanes.length];
    if (!lane) throw new Error('there is no lane');
    return lane.take(wish);
  }

  /** Nest asks every provider that has this. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.close()));
    await this.news.close();
  }
}
