import { jsonIn } from '#platform/http-client/http-client';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { templateOf } from './queue-consumer.ts';

/** Maximum age of a dead letter that is searched. Earlier searches have reported older ones. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** Maximum difference between the clocks of two workers, because a dead letter has the time of its worker. */
const MAX_CLOCK_SKEW_MS = 600_000;
const PAGE_SIZE = 1000;

/** A job that failed for good, as BullMQ stores it in Redis. */
export interface StoredDeadLetter {
  readonly queue: string;
  readonly jobId: string;
  readonly template: unknown;
  readonly reason: string;
}
/** A dead letter that nobody was alerted about; for `subject` see `deadLetterSubject`. */
export type UnreportedDeadLetter = StoredDeadLetter & { readonly subject: string };

/**
 * Returns the text that identifies a dead letter. The worker's own alert and the search in Redis use the same text, so that the
 * dead letter is reported only once.
 */
export function deadLetterSubject(queue: string, jobId: string, failedAt: number): string {
  return `${queue}:${jobId}:${failedAt}`;
}

/**
 * Finds dead letters that nobody was alerted about, for example because the worker died between the failure and the alert. Reads
 * BullMQ's sorted set of failed jobs, whose score is the time of the failure.
 */
export class DeadLetters {
  /** The time from which the next search of a queue reads, by queue. */
  private readonly searchFrom = new Map<string, number>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly queues: readonly string[],
    /** Returns those of the subjects (see `deadLetterSubject`) for which the table `alert_notes` has no row. */
    private readonly findUnreported: (subjects: readonly string[]) => Promise<ReadonlySet<string>>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Returns at most 1,000 dead letters of each queue. Call it again until it returns none. */
  async unreported(): Promise<UnreportedDeadLetter[]> {
    const found = await Promise.all(this.queues.map((queue) => this.unreportedIn(queue)));
    return found.flat();
  }

  private async unreportedIn(queue: string): Promise<UnreportedDeadLetter[]> {
    const from = Math.max(this.searchFrom.get(queue) ?? 0, this.now() - MAX_AGE_MS);
    let last = from;
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const key = `${this.prefix}:${queue}:failed`;
      const flat = await this.redis.zrangebyscore(key, from, '+inf', 'WITHSCORES', 'LIMIT', offset, PAGE_SIZE);
      const page = flat.flatMap((jobId, at) => (at % 2 === 0 ? [{ jobId, failedAt: Number(flat[at + 1]) }] : []));
      const subjects = new Map(page.map(({ jobId, failedAt }) => [deadLetterSubject(queue, jobId, failedAt), jobId]));
      const unreported = await this.findUnreported([...subjects.keys()]);
      if (unreported.size > 0) {
        const letters = [...unreported].map((subject) => this.read(queue, subjects.get(subject) ?? '', subject));
        return (await Promise.all(letters)).filter((letter) => letter !== undefined);
      }
      last = page.at(-1)?.failedAt ?? last;
      if (page.length < PAGE_SIZE) break;
    }
    // All dead letters up to `last` are reported, so the next search starts there, minus the clock difference.
    this.searchFrom.set(queue, last - MAX_CLOCK_SKEW_MS);
    return [];
  }

  private async read(queue: string, jobId: string, subject: string): Promise<UnreportedDeadLetter | undefined> {
    const [data, reason] = await this.redis.hmget(`${this.prefix}:${queue}:${jobId}`, 'data', 'failedReason');
    // The job was retried or dropped after the set of failed jobs was read.
    if (data === null || data === undefined) return undefined;
    return { queue, jobId, template: templateOf(jsonIn({ body: data })), reason: reason ?? 'unknown', subject };
  }
}
