import type { RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

const MARK_KEPT_SECONDS = 8 * 24 * 3600;
/** KEYS the messages' marks · ARGV[1] who is done with them  ARGV[2] life in seconds. */
const mark = new RedisScript(`
for _, key in ipairs(KEYS) do
  redis.call('SADD', key, ARGV[1])
  redis.call('EXPIRE', key, ARGV[2])
end
`);
/** KEYS the messages' marks · ARGV[1] who asks → 1 or 0 for each. */
const known = new RedisScript(`
local answers = {}
for n, key in ipairs(KEYS) do answers[n] = redis.call('SISMEMBER', key, ARGV[1]) end
return answers
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
    await this.addAll(consumer, [messageId]);
  }

  /** Those of the messages the consumer is done with. */
  async allOf(consumer: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const looks = this.groups(messageIds).map(async (group) => {
      const keys = group.map(keyOf);
      // Of those that are about to be sent hardly one has a mark, and one command says so for all of them.
      if ((await withinPatience(this.redis.exists(...keys))) === 0) return;
      const answers = await withinPatience(known.run<number[]>(this.redis, keys, [consumer]));
      group.forEach((messageId, index) => answers?.[index] === 1 && found.add(messageId));
    });
    await Promise.all(looks);
    return found;
  }

  async addAll(consumer: string, messageIds: readonly string[]): Promise<void> {
    await Promise.all(
      this.groups(messageIds).map((group) =>
        withinPatience(mark.run(this.redis, group.map(keyOf), [consumer, MARK_KEPT_SECONDS])),
      ),
    );
  }

  /** One call for all of them; in a cluster one for each, as every message has a slot of its own. */
  private groups(messageIds: readonly string[]): readonly (readonly string[])[] {
    return this.redis.isCluster ? messageIds.map((messageId) => [messageId]) : [messageIds];
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
