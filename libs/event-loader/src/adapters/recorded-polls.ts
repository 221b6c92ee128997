import type { Logger } from '#platform/logging/logger';
import { redactText } from '#platform/logging/logger';
import type pg from 'pg';
import { EventFetchError, type Source } from '../core/event.ts';
import { PollLog, type PollResult } from '../core/ports.ts';

/** A source that has nothing new says so five times a second; that it was well is worth a row less often. */
const WELL_EVERY_MS = 5000;
const OVERSENT_EVERY_MS = 60_000;

/** `tell`: this very statement moved the hour on. Who dies before telling leaves it to the log, and to the next hour. */
const FAILED = `
  update loader_sources set errors = errors + 1, last_error = $2,
    refusal_told_at = case when $3 and refusal_told_at > now() - interval '1 hour' is not true then now() else refusal_told_at end
  where source = $1 returning $3 and refusal_told_at = now() as tell`;

/** What people are told. */
export interface SourceAlerts {
  /** This source lets us in no more: once an hour, by one of all loaders. */
  readonly refusal?: (source: string) => void;
  /** This source has failed five times in a row here. */
  readonly breakerOpened?: (source: string) => void;
}

/** Tells the log, and the source's row, where `loader:status` and the metrics find it: it outlives every loader. */
export class RecordedPolls extends PollLog {
  readonly sum = { stored: 0, refused: 0, quarantined: 0, transportedAgain: 0, failed: 0 };
  /** The failures of the last turns, by source. */
  readonly failing = new Map<string, unknown>();
  private readonly oversentAt = new Map<string, number>();
  private readonly wellAt = new Map<string, number>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly logger: Logger,
    private readonly tell: SourceAlerts = {},
  ) {
    super();
  }

  async heard({ name }: Source, turn: PollResult): Promise<void> {
    if (turn.kind === 'failed') return this.failed(name, turn.error);
    if (turn.kind === 'idle') return this.well(name);
    if (turn.kind === 'outpaced') return this.outpaced(name, turn.transported);
    if (turn.kind !== 'appended') return;
    this.failing.delete(name);
    this.sum.stored += turn.stored;
    this.sum.refused += turn.refused;
    this.sum.quarantined += turn.quarantined;
    if (turn.left !== undefined) this.oversent(name, turn.left);
    if (turn.quarantined > 0) this.logger.warn({ source: name, quarantined: turn.quarantined }, 'events were quarantined');
  }

  breakerOpened({ name }: Source): void {
    this.logger.error({ source: name }, 'a source is left alone for a while');
    this.tell.breakerOpened?.(name);
  }

  /** It goes on for as long as the source does: worth a line a minute. */
  private oversent(name: string, left: number): void {
    const now = performance.now();
    if (now - (this.oversentAt.get(name) ?? Number.NEGATIVE_INFINITY) < OVERSENT_EVERY_MS) return;
    this.oversentAt.set(name, now);
    this.logger.warn({ source: name, left, reason: 'SOURCE_OVERSEND' }, 'a source sent more than it was asked for');
  }

  private async failed(name: string, error: unknown): Promise<void> {
    if (error instanceof EventFetchError && error.code === 'SOURCE_STOPPED') return;
    this.sum.failed += 1;
    this.failing.set(name, error);
    this.wellAt.delete(name);
    const text = redactText(error instanceof Error ? error.message : String(error)).slice(0, 500);
    // A source that refuses us waits for people; all other trouble goes by itself, or lasts and is seen in the metrics.
    const isRefusal = error instanceof EventFetchError && error.code === 'SOURCE_FORBIDDEN';
    this.logger[isRefusal ? 'error' : 'warn']({ source: name, reason: text }, 'a source was skipped');
    const { rows } = await this.pool.query<{ tell: boolean }>(FAILED, [name, text, isRefusal]);
    if (rows[0]?.tell) this.tell.refusal?.(name);
  }

  private async well(name: string): Promise<void> {
    this.failing.delete(name);
    const now = performance.now();
    if (now - (this.wellAt.get(name) ?? Number.NEGATIVE_INFINITY) < WELL_EVERY_MS) return;
    this.wellAt.set(name, now);
    await this.pool.query('update loader_sources set last_error = null, caught_up_at = now() where source = $1', [name]);
  }

  private async outpaced(name: string, transported: number): Promise<void> {
    this.sum.transportedAgain += transported;
    await this.pool.query('update loader_sources set transported_again = transported_again + $2 where source = $1', [
      name,
      transported,
    ]);
  }
}
