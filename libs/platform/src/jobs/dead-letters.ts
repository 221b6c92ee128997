import type { RedisConnection } from '../redis/redis-connection.ts';

/** Older dead letters are not searched: earlier runs have reported them. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** Maximum difference of clocks, because the time of a dead letter comes from the clock of its worker. */
const MAX_CLOCK_SKEW_MS = 600_000;
const PAGE_SIZE = 1000;

export interface StoredDeadLetter {
  readonly queue: string;
  readonly jobId: string;
  readonly template: unknown;
  readonly reason: string;
}

/** Identifies a dead letter, so that the worker's own alert and the search in Redis report it only once. */
export function deadLetterSubject(queue: string, jobId: string, failedAt: number): string {
  return `${queue}:${jobId}:${failedAt}`;
}

/**
 * Finds dead letters without an alert, for example because the worker died between the failure and the alert. It reads BullMQ's
 * sorted set of failed jobs, whose score is the time of the failure.
 */
export class DeadLetters {
  /** For each queue the time from which the next search reads. */
  private readonly searchFrom = new Map<string, number>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly queues: readonly string[],
    /** Returns those of the subjects that no alert note has. */
    private readonly findUnreported: (subjects: readonly string[]) => Promise<ReadonlySet<string>>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Returns at most 1,000 dead letters of each queue. Call it again until it returns none. */
  async unreported(): Promise<(StoredDeadLetter & { readonly subject: string })[]> {
    const found = await Promise.all(this.queues.map((queue) => this.unreportedIn(queue)));
    return found.flat();
  }

  private async unreportedIn(queue: string): Promise<(StoredDeadLetter & { readonly subject: string })[]> {
    const from = Math.max(this.searchFrom.get(queue) ?? 0, this.now() - MAX_AGE_MS);
    let last = from;
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const flat = await this.redis.zrangebyscore(
        `${this.prefix}:${queue}:failed`,
        from,
        '+inf',
        'WITHSCORES',
        'LIMIT',
        offset,
        PAGE_SIZE,
      );
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
    // All dead letters up to this time are reported, so the next search starts here.
    this.searchFrom.set(queue, last - MAX_CLOCK_SKEW_MS);
    return [];
  }

  private async read(
    queue: string,
    jobId: string,
    subject: string,
  ): Promise<(StoredDeadLetter & { subject: string }) | undefined> {
    const [data, reason] = await this.redis.hmget(`${this.prefix}:${queue}:${jobId}`, 'data', 'failedReason');
    // The job was retried or dropped after the set was read.
    if (data === null || data === undefined) return undefined;
    return { queue, jobId, template: templateIn(data), reason: reason ?? 'unknown', subject };
  }
}

function templateIn(data: string): unknown {
  try {
    const job: unknown = JSON.parse(data);
    return typeof job === 'object' && job !== null && 'template' in job ? job.template : undefined;
  } catch {
    return undefined;
  }
}
