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

  async readAfter(
    matchId: string,
    streamId: string,
    limit: number,
  ): Promise<{ events: readonly WaitingRoomEvent[]; lastId: string }> {
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
  switch (event.event) {
    case 'queue.turn_granted':
      return {
        kind: 'turn granted',
        matchId,
        userId: event.user_id,
        sessionToken: event.session_token,
        expiresAt: event.expires_at,
        generation: event.generation,
        placeScore: event.place_score,
      };
    case 'queue.expired':
      return { kind: 'turn ended', matchId, userId: event.user_id, sessionToken: event.session_token, reason: event.reason };
    case 'queue.front_reached':
      return { kind: 'front reached', matchId, userId: event.user_id };
    case 'queue.position_update':
      return { kind: 'positions', matchId, items: event.items.map(({ user_id, position }) => ({ userId: user_id, position })) };
  }
}
