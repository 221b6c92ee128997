import type { RedisConnection } from '#platform/redis/redis-connection';
import { RedisScript } from '#platform/redis/script';
import { waitAtMost } from '#platform/wait-at-most';

const MARK_TTL_SECONDS = 8 * 24 * 3600;
/** Lua: adds a consumer to the marks of messages. KEYS: the marks · ARGV[1]: the consumer · ARGV[2]: time to live in seconds. */
const addMarks = new RedisScript(`
for _, key in ipairs(KEYS) do
  redis.call('SADD', key, ARGV[1])
  redis.call('EXPIRE', key, ARGV[2])
end
`);
/** Lua: reads which messages a consumer has processed. KEYS: the marks · ARGV[1]: the consumer. Returns 1 or 0 for each key. */
const readMarks = new RedisScript(`
local answers = {}
for n, key in ipairs(KEYS) do answers[n] = redis.call('SISMEMBER', key, ARGV[1]) end
return answers
`);
/**
 * Timeout of each command. A slow Redis must not cost more time than the query to the inbox (the table of what consumers have
 * done) that the mark saves.
 */
const TIMEOUT_MS = 250;

/**
 * Marks of processed messages in Redis, a fast check before the inbox (the table of what consumers have done). The mark
 * `outbox:processed:<message id>` is a set of consumer names, because each consumer processes a message separately. A mark is
 * written after the commit and is only used to skip a message. Without Redis, or after a loss of its data, every message counts
 * as unmarked and the inbox row decides.
 */
export class ProcessedMarks {
  constructor(private readonly redis: RedisConnection) {}

  async has(consumer: string, messageId: string): Promise<boolean> {
    return (await withTimeout(this.redis.sismember(keyOf(messageId), consumer))) === 1;
  }

  async add(consumer: string, messageId: string): Promise<void> {
    await this.addAll(consumer, [messageId]);
  }

  /** Returns the ids of those messages that the consumer has processed. */
  async allOf(consumer: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const reads = this.groups(messageIds).map(async (group) => {
      const keys = group.map(keyOf);
      // Messages about to be sent rarely have a mark, and one EXISTS command checks all of them.
      if ((await withTimeout(this.redis.exists(...keys))) === 0) return;
      const answers = await withTimeout(readMarks.run<number[]>(this.redis, keys, [consumer]));
      group.forEach((messageId, index) => answers?.[index] === 1 && found.add(messageId));
    });
    await Promise.all(reads);
    return found;
  }

  async addAll(consumer: string, messageIds: readonly string[]): Promise<void> {
    await Promise.all(
      this.groups(messageIds).map((group) =>
        withTimeout(addMarks.run(this.redis, group.map(keyOf), [consumer, MARK_TTL_SECONDS])),
      ),
    );
  }

  /**
   * Groups the ids of which one command may ask: all ids in one group, except in a cluster, where each id is a group, because
   * each key has its own slot.
   */
  private groups(messageIds: readonly string[]): readonly (readonly string[])[] {
    return this.redis.isCluster ? messageIds.map((messageId) => [messageId]) : [messageIds];
  }
}

function keyOf(messageId: string): string {
  return `outbox:processed:${messageId}`;
}

/** Waits for the answer. Returns undefined if Redis is unreachable, too slow or answers with an error. */
async function withTimeout<T>(answer: Promise<T>): Promise<T | undefined> {
  const noError = answer.catch(() => undefined);
  return waitAtMost(TIMEOUT_MS, noError, undefined);
}
