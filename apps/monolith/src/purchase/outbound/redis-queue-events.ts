import { queueEvent, type QueueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { QueueEvents } from '../application/follow-waiting-room.ts';

export class RedisQueueEvents extends QueueEvents {
  constructor(
    private readonly redis: RedisConnection,
    private readonly logger: Logger,
  ) {
    super();
  }

  matches(): Promise<readonly string[]> {
    return this.redis.smembers(queueKeys.matches);
  }

  async readAfter(matchId: string, streamId: string, limit: number): Promise<{ events: readonly QueueEvent[]; lastId: string }> {
    const entries = await this.redis.xrange(queueKeys.events(matchId), `(${streamId}`, '+', 'COUNT', limit);
    const events = entries.flatMap(([id, fields]) => this.parse(id, fields));
    return { events, lastId: entries.at(-1)?.[0] ?? streamId };
  }

  private parse(id: string, fields: readonly string[]): QueueEvent[] {
    const text = fields[fields.indexOf('event') + 1];
    try {
      return [queueEvent.parse(JSON.parse(text ?? ''))];
    } catch (error) {
      this.logger.error({ stream_id: id, err: error }, 'an event of the waiting room cannot be read');
      return [];
    }
  }
}
