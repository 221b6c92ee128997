import type { RedisConnection } from '../redis/redis-connection.ts';

/** Older ones were found by whoever ran then. */
const LOOKED_BACK_MS = 7 * 24 * 3_600_000;
/** The time of a dead letter is the clock of the worker that had it. */
const CLOCKS_DIFFER_MS = 600_000;
const PAGE = 1000;

export interface StoredDeadLetter {
  readonly queue: string;
  readonly jobId: string;
  readonly template: unknown;
  readonly reason: string;
}

/** The same for the worker that had the job and for whoever finds it in Redis. */
export function deadLetterSubject(queue: string, jobId: string, failedAt: number): string {
  return `${queue}:${jobId}:${failedAt}`;
}

/**
 * Finds dead letters that nobody has reported: the worker died between the job's end and its report. It reads BullMQ's own sorted
 * set of failed jobs, whose score is the time of the failure.
 */
export class DeadLetters {
  private readonly from = new Map<string, number>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly queues: readonly string[],
    /** Which of these subjects nobody has noted. */
    private readonly unknown: (subjects: readonly string[]) => Promise<ReadonlySet<string>>,
    private readonly now: () => number = Date.now,
  ) {}

  /** At most a thousand of each queue; the next call goes on. */
  async unreported(): Promise<(StoredDeadLetter & { readonly subject: string })[]> {
    const found = await Promise.all(this.queues.map((queue) => this.unreportedIn(queue)));
    return found.flat();
  }

  private async unreportedIn(queue: string): Promise<(StoredDeadLetter & { readonly subject: string })[]> {
    const from = Math.max(this.from.get(queue) ?? 0, this.now() - LOOKED_BACK_MS);
    let last = from;
    for (let offset = 0; ; offset += PAGE) {
      const flat = await this.redis.zrangebyscore(
        `${this.prefix}:${queue}:failed`,
        from,
        '+inf',
        'WITHSCORES',
        'LIMIT',
        offset,
        PAGE,
      );
      const page = flat.flatMap((jobId, at) => (at % 2 === 0 ? [{ jobId, failedAt: Number(flat[at + 1]) }] : []));
      const subjects = new Map(page.map(({ jobId, failedAt }) => [deadLetterSubject(queue, jobId, failedAt), jobId]));
      const unknown = await this.unknown([...subjects.keys()]);
      if (unknown.size > 0) {
        const letters = [...unknown].map((subject) => this.read(queue, subjects.get(subject) ?? '', subject));
        return (await Promise.all(letters)).filter((letter) => letter !== undefined);
      }
      last = page.at(-1)?.failedAt ?? last;
      if (page.length < PAGE) break;
    }
    // All up to here is noted, so the next look may begin here.
    this.from.set(queue, last - CLOCKS_DIFFER_MS);
    return [];
  }

  private async read(
    queue: string,
    jobId: string,
    subject: string,
  ): Promise<(StoredDeadLetter & { subject: string }) | undefined> {
    const [data, reason] = await this.redis.hmget(`${this.prefix}:${queue}:${jobId}`, 'data', 'failedReason');
    // Retried or dropped since the set was read.
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
