import type { RedisConnection } from '#platform/redis/redis-connection';
import { broadcastBlocked } from '../../hold/outbound/seat-change-broadcast.ts';
import { SeatHints, type ElsewhereSeat } from '../application/ports.ts';

/** On the channel on which the processes tell each other what they took. */
export class RedisSeatHints extends SeatHints {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  gone(seats: readonly Pick<ElsewhereSeat, 'seatId' | 'sectorId'>[]): void {
    const bySector: Record<string, string[]> = {};
    for (const { sectorId, seatId } of seats) (bySector[sectorId] ??= []).push(seatId);
    broadcastBlocked(this.redis, bySector);
  }
}
