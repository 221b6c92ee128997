import type { RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

const MARK_KEPT_SECONDS = 8 * 24 * 3600;
/** KEYS[1] the message's marks · ARGV[1] consumer, ARGV[2] life in seconds. One command: there is one a message. */
const mark = new RedisScript(`
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
`);
/** Asking Redis must never cost more than the row it saves. */
const PATIENCE_MS = 250;

/**
 * The fast way to know that a message is done: `outbox:processed:<message id>`, a set of consumers' names, so that one of
 * them cannot hide a message from another. Written after the commit and trusted for skipping only: without Redis, or after
 * its loss, every answer is "not known" and the inbox row decides.
 */
export class ProcessedMarks {
  constructor(private readonly redis: RedisConnection) {}

  async has(consumer: string, messageId: string): Promise<boolean> {
    const found = await withinPatience(this.redis.sismember(keyOf(messageId), consumer));
    return found === 1;
  }

  async add(consumer: string, messageId: string): Promise<void> {
    const key = keyOf(messageId);
    await withinPatience(mark.run(this.redis, [key], [consumer, MARK_KEPT_SECONDS]));
  }
}

function keyOf(messageId: string): string {
  return `outbox:processed:${messageId}`;
}

/** Undefined when Redis is away, slow or refuses. */
async function withinPatience<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  return Promise.race([answer.catch(() => undefined), tooLate]).finally(() => clearTimeout(timer));
}
