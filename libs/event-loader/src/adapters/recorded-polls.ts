import type { Logger } from '#platform/logging/logger';
import { redactText } from '#platform/logging/logger';
import type pg from 'pg';
import { EventFetchError, type Source } from '../core/event.ts';
import { PollLog, type PollResult } from '../core/ports.ts';
import { RECORD_POLL_FAILURE } from './loader-sources.sql.ts';

/** Minimum time between two writes that a source has no new events. Such a source is polled up to five times a second. */
const SUCCESS_WRITE_INTERVAL_MS = 5000;
/** Minimum time between two log lines about a source that sends more events than requested. */
const OVERSEND_LOG_INTERVAL_MS = 60_000;

/** Alerts for operators about sources. Both are called with the name of the source. */
export interface SourceAlerts {
  /** The source answers 401 or 403. Called at most once an hour for each source, by only one of all loaders. */
  readonly refusal?: (source: string) => void;
  /** The source has failed five times in a row in this loader, which then pauses it. */
  readonly breakerOpened?: (source: string) => void;
}

/**
 * Records the results of polls in the log and in the row of the source in `loader_sources`. The command `loader:status` and the
 * metrics read this row, so the results are kept when a loader process ends.
 */
export class RecordedPolls extends PollLog {
  /**
   * Totals of all polls of this process. `fetchedAgain`: events that were fetched but not stored, because another loader was
   * first.
   */
  readonly sum = { stored: 0, refused: 0, quarantined: 0, fetchedAgain: 0, failed: 0 };
  /** The sources whose last poll failed: the error by the name of the source. */
  readonly failing = new Map<string, unknown>();
  private readonly oversendLoggedAt = new Map<string, number>();
  private readonly successWrittenAt = new Map<string, number>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly logger: Logger,
    private readonly alerts: SourceAlerts = {},
  ) {
    super();
  }

  async record({ name }: Source, result: PollResult): Promise<void> {
    if (result.kind === 'failed') return this.recordFailure(name, result.error);
    if (result.kind === 'idle') return this.recordIdle(name);
    if (result.kind === 'stale') return this.recordStale(name, result.fetchedCount);
    if (result.kind !== 'appended') return;
    this.failing.delete(name);
    this.sum.stored += result.stored;
    this.sum.refused += result.refused;
    this.sum.quarantined += result.quarantined;
    if (result.excess !== undefined) this.logOversend(name, result.excess);
    if (result.quarantined > 0) this.logger.warn({ source: name, quarantined: result.quarantined }, 'events were quarantined');
  }

  breakerOpened({ name }: Source): void {
    this.logger.error({ source: name }, 'a source failed five times in a row and is paused');
    this.alerts.breakerOpened?.(name);
  }

  /** Logs at most once a minute, because a source that sends too many events does so with every answer. */
  private logOversend(name: string, excess: number): void {
    if (hasPassed(OVERSEND_LOG_INTERVAL_MS, this.oversendLoggedAt, name))
      this.logger.warn({ source: name, excess, reason: 'SOURCE_OVERSEND' }, 'a source sent more events than requested');
  }

  private async recordFailure(name: string, error: unknown): Promise<void> {
    if (error instanceof EventFetchError && error.code === 'SOURCE_STOPPED') return;
    this.sum.failed += 1;
    this.failing.set(name, error);
    this.successWrittenAt.delete(name);
    const text = redactText(error instanceof Error ? error.message : String(error)).slice(0, 500);
    // Only people can correct a refusal, so operators are alerted. Other failures end by themselves or are visible in the
    // metrics.
    const isRefusal = error instanceof EventFetchError && error.code === 'SOURCE_FORBIDDEN';
    this.logger[isRefusal ? 'error' : 'warn']({ source: name, reason: text }, 'a source was skipped');
    const statement = RECORD_POLL_FAILURE.with({ source: name, error: text, isRefusal });
    const { rows } = await this.pool.query<{ should_alert: boolean }>(statement.text, statement.values);
    if (rows[0]?.should_alert) this.alerts.refusal?.(name);
  }

  private async recordIdle(name: string): Promise<void> {
    this.failing.delete(name);
    if (hasPassed(SUCCESS_WRITE_INTERVAL_MS, this.successWrittenAt, name))
      await this.pool.query('update loader_sources set last_error = null, caught_up_at = now() where source = $1', [name]);
  }

  private async recordStale(name: string, fetchedCount: number): Promise<void> {
    this.sum.fetchedAgain += fetchedCount;
    const statement = 'update loader_sources set transported_again = transported_again + $2 where source = $1';
    await this.pool.query(statement, [name, fetchedCount]);
  }
}

/** True if the last time of this source, in `times`, is longer ago than the interval; the time is then set to now. */
function hasPassed(intervalMs: number, times: Map<string, number>, name: string): boolean {
  const now = performance.now();
  if (now - (times.get(name) ?? Number.NEGATIVE_INFINITY) < intervalMs) return false;
  times.set(name, now);
  return true;
}
