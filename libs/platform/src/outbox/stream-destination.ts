import type { RedisConnection } from '../redis/redis-connection.ts';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';

export const EVENTS_DESTINATION = 'events';
/** Facts for whoever listens: a Redis stream, trimmed to about this many. */
const KEY = 'domain_events';
const KEPT = 100_000;

/** Facts nobody in particular is told: appended to a stream, with the message's id to recognise a repetition by. */
export class StreamDestination implements Destination {
  readonly name = EVENTS_DESTINATION;
  readonly batchSize = 1000;

  constructor(private readonly redis: RedisConnection) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const pipeline = this.redis.pipeline();
    for (const { id, body } of messages)
      pipeline.xadd(KEY, 'MAXLEN', '~', KEPT, '*', 'message_id', id, 'event', JSON.stringify(body));
    const results = await pipeline.exec();
    const failed = results?.find(([error]) => error !== null)?.[0];
    if (!results || failed) throw failed ?? new Error('the stream took nothing');
    return messages.map(({ id }) => ({ id, outcome: 'delivered' }));
  }
}
