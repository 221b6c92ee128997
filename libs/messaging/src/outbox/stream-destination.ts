import type { RedisConnection } from '#platform/redis/redis-connection';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';

/** Outbox destination of events that are for nobody in particular. */
export const EVENTS_DESTINATION = 'events';
/** The Redis stream of domain events; it is trimmed to about MAX_LENGTH entries. */
const KEY = 'domain_events';
const MAX_LENGTH = 100_000;

/** Appends domain events without a specific receiver to a Redis stream. A reader recognises a repeated message by its id. */
export class StreamDestination implements Destination {
  readonly name = EVENTS_DESTINATION;
  readonly batchSize = 1000;

  constructor(private readonly redis: RedisConnection) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const pipeline = this.redis.pipeline();
    for (const { id, body } of messages)
      pipeline.xadd(KEY, 'MAXLEN', '~', MAX_LENGTH, '*', 'message_id', id, 'event', JSON.stringify(body));
    const results = await pipeline.exec();
    const failed = results?.find(([error]) => error !== null)?.[0];
    if (!results || failed) throw failed ?? new Error('Redis did not answer');
    return messages.map(({ id }) => ({ id, outcome: 'delivered' }));
  }
}
