import { queueEvent, type QueueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { WaitingRoomEvents, WaitingRoomEvent } from '../application/waiting-room-ports.ts';

/** Reads the waiting room's events from Redis streams and translates them. */
export class RedisWaitingRoomEvents implements WaitingRoomEvents {
  constructor(
    private readonly redis: RedisConnection,
    private readonly logger: Logger,
  ) {}

  matches(): Promise<readonly string[]> {
    return this.redis.smembers(queueKeys.matches);
  }

  async hasAfter(matchId: string, streamId: string): Promise<boolean> {
    return (await this.redis.xrange(queueKeys.events(matchId), `(${streamId}`, '+', 'COUNT', 1)).length > 0;
  }

  async readAfter(matchId: string, streamId: string, limit: number): ReturnType<WaitingRoomEvents['readAfter']> {
    const entries = await this.redis.xrange(queueKeys.events(matchId), `(${streamId}`, '+', 'COUNT', limit);
    const events = entries.flatMap(([id, fields]) => this.parse(id, fields));
    return { events, lastId: entries.at(-1)?.[0] ?? streamId };
  }

  private parse(id: string, fields: readonly string[]): WaitingRoomEvent[] {
    const text = fields[fields.indexOf('event') + 1];
    try {
      return [asWaitingRoomEvent(queueEvent.parse(JSON.parse(text ?? '')))];
    } catch (error) {
      this.logger.error({ stream_id: id, err: error }, 'invalid event of the waiting room skipped');
      return [];
    }
  }
}

function asWaitingRoomEvent(event: QueueEvent): WaitingRoomEvent {
  const matchId = event.match_id;
  if (event.event === 'queue.position_update')
    return { kind: 'positions', matchId, items: event.items.map(({ user_id, position }) => ({ userId: user_id, position })) };
  if (event.event === 'queue.joins_from_one_address') {
    const { address, joins, line } = event;
    return { kind: 'joins from one address', matchId, address, joins, line };
  }
  const fan = { matchId, userId: event.user_id };
  if (event.event === 'queue.front_reached') return { kind: 'front reached', ...fan };
  if (event.event === 'queue.expired')
    return { kind: 'turn ended', ...fan, sessionToken: event.session_token, reason: event.reason };
  const { session_token: sessionToken, expires_at: expiresAt, generation, place_score: placeScore } = event;
  return { kind: 'turn granted', ...fan, sessionToken, expiresAt, generation, placeScore };
}
