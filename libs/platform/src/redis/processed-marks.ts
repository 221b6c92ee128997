import type { RedisConnection } from './redis-connection.ts';
import { RedisScript } from './script.ts';

const MARK_KEPT_SECONDS = 8 * 24 * 3600;
/** KEYS the messages' marks · ARGV[1] life in seconds, ARGV[1 + n] who is done with message n. */
const mark = new RedisScript(`
for n, key in ipairs(KEYS) do
  redis.call('SADD', key, ARGV[1 + n])
  redis.call('EXPIRE', key, ARGV[1])
end
`);
/** KEYS the messages' marks · ARGV[n] who asks about message n → 1 or 0 for each. */
const known = new RedisScript(`
local answers = {}
for n, key in ipairs(KEYS) do answers[n] = redis.call('SISMEMBER', key, ARGV[n]) end
return answers
`);
/** Asking Redis must never cost more than the row it saves. */
const PATIENCE_MS = 250;

export interface Marked {
  readonly consumer: string;
  readonly messageId: string;
}

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
    await this.addAll([{ consumer, messageId }]);
  }

  async hasAll(messages: readonly Marked[]): Promise<readonly boolean[]> {
    const answers = await Promise.all(
      this.groups(messages).map(async (group) => {
        // Of those that are about to be sent hardly one has a mark, and one command says so for all of them.
        if ((await withinPatience(this.redis.exists(...keysOf(group)))) === 0) return group.map(() => false);
        const found = await withinPatience(known.run<number[]>(this.redis, keysOf(group), consumersOf(group)));
        return group.map((_, index) => found?.[index] === 1);
      }),
    );
    return answers.flat();
  }

  async addAll(messages: readonly Marked[]): Promise<void> {
    await Promise.all(
      this.groups(messages).map((group) =>
        withinPatience(mark.run(this.redis, keysOf(group), [MARK_KEPT_SECONDS, ...consumersOf(group)])),
      ),
    );
  }

  /** One call for all of them; in a cluster one for each, as every message has a slot of its own. */
  private groups(messages: readonly Marked[]): readonly (readonly Marked[])[] {
    return this.redis.isCluster ? messages.map((message) => [message]) : [messages];
  }
}

const keysOf = (group: readonly Marked[]): string[] => group.map(({ messageId }) => keyOf(messageId));
const consumersOf = (group: readonly Marked[]): string[] => group.map(({ consumer }) => consumer);

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
