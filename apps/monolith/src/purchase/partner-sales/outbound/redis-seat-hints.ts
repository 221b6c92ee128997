import type { RedisConnection } from '#platform/redis/redis-connection';
import { broadcastBlocked } from '../../hold/outbound/seat-change-broadcast.ts';
import { SeatHints, type PartnerSoldSeat } from '../application/ports.ts';

/** Sends the hints about blocked seats as seat-change broadcasts over Redis. */
export class RedisSeatHints extends SeatHints {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  gone(seats: readonly Pick<PartnerSoldSeat, 'seatId' | 'sectorId'>[]): void {
    const bySector: Record<string, string[]> = {};
    for (const { sectorId, seatId } of seats) (bySector[sectorId] ??= []).push(seatId);
    broadcastBlocked(this.redis, bySector);
  }
}
