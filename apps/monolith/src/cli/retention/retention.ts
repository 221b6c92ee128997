import type { Logger } from '#platform/logging/logger';
import { runReadCommitted } from '#platform/postgres/read-committed';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { deleteOldStreams, STREAM_RETENTION } from './delete-old-streams.ts';
import { CONTACT_RETENTION, eraseOldMatches } from './erase-old-matches.ts';
import type { FanErasures } from './fan-erasures.ts';
import { retentionRules, type RetentionRule } from './retention-rules.ts';

/** Rows that one statement deletes. */
const BATCH_SIZE = 1000;
const RULES_EVERY_MS = 3_600_000;
/** DELETE /me promises that everything is gone within 60 seconds. */
const ERASURES_EVERY_MS = 10_000;
/** A request of the fan that runs during the erasing may still store its answer for so long. */
const MIN_AGE_SECONDS = 10;

/** What one rule has done. */
export interface RuleReport {
  readonly name: string;
  readonly keeps: string;
  readonly rows: number;
}

const NOTE_RUN = `
  insert into retention_runs (rule, ran_at, last_n, total_n) values ($1, clock_timestamp(), $2, $2)
  on conflict (rule) do update set ran_at = excluded.ran_at, last_n = excluded.last_n, total_n = retention_runs.total_n + excluded.last_n`;

/** The retention job: deletes what is old, and finishes the erasing of fans. It is the only task that is the owner of the schema. */
export class Retention {
  constructor(
    private readonly database: DataSource,
    private readonly redis: Pick<RedisConnection, 'unlink'>,
    private readonly erasures: FanErasures,
    private readonly logger: Logger,
  ) {}

  /** Runs all rules, each until nothing old is left. Two processes at once skip each other's rows. */
  async runRules(stop?: AbortSignal): Promise<RuleReport[]> {
    const reports: RuleReport[] = [];
    const names = { name: 'names and addresses of past matches', keeps: CONTACT_RETENTION };
    reports.push(await this.report(names, () => eraseOldMatches(this.database, stop)));
    const streams = { name: 'what happened in lines of past matches', keeps: STREAM_RETENTION };
    reports.push(await this.report(streams, () => deleteOldStreams(this.database, this.redis)));
    for (const rule of retentionRules) {
      if (stop?.aborted) break;
      reports.push(await this.report(rule, () => this.apply(rule, stop)));
    }
    return reports;
  }

  /** Runs until it is stopped. The rules may take minutes, and no fan waits for them. `alive` is called after each look at the erasures. */
  async runUntil(stop: AbortSignal, alive: () => void): Promise<void> {
    const erase = async (): Promise<void> => void (await this.erasures.runOnce(MIN_AGE_SECONDS));
    await Promise.all([
      this.repeat(erase, { everyMs: ERASURES_EVERY_MS, stop, after: alive }),
      this.repeat(() => this.runRules(stop), { everyMs: RULES_EVERY_MS, stop }),
    ]);
  }

  /** Calls `run` again and again until `stop`. A run that fails is logged, and the next one follows as usual. */
  private async repeat(
    run: () => Promise<unknown>,
    { everyMs, stop, after }: { everyMs: number; stop: AbortSignal; after?: () => void },
  ): Promise<void> {
    while (!stop.aborted) {
      try {
        await run();
      } catch (error) {
        this.logger.error({ err: error }, 'the retention job has failed; it tries again');
      }
      after?.();
      await sleep(everyMs, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  private async apply({ sql }: RetentionRule, stop: AbortSignal | undefined): Promise<number> {
    for (let rows = 0; ;) {
      const batch = await runReadCommitted(this.database, async (tx) => {
        // The planner would read a whole table when it expects too many old rows, and again for each batch.
        await tx.query('set local enable_seqscan = off');
        return (await tx.query(sql, [BATCH_SIZE])).rowCount;
      });
      rows += batch;
      if (batch < BATCH_SIZE || stop?.aborted) return rows;
    }
  }

  private async report({ name, keeps }: Pick<RetentionRule, 'name' | 'keeps'>, run: () => Promise<number>): Promise<RuleReport> {
    const rows = await run();
    await this.database.query(NOTE_RUN, [name, rows]);
    if (rows > 0) this.logger.info({ rule: name, rows }, 'old data were deleted');
    return { name, keeps, rows };
  }
}
