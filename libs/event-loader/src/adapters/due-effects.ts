import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Logger } from '#platform/logging/logger';
import { setTimeout } from 'node:timers/promises';
import type { Source } from '../core/event.ts';
import type { LockFactory } from '../core/ports.ts';
import { NEXT_DUE_EVENTS, RECORD_EVENT_FAILURE, type DueEvent } from './due-events.sql.ts';
import { PostgresLoadedEffect } from './postgres-loaded-effect.ts';

const BATCH_SIZE = 100;
const IDLE_SLEEP_MS = 200;
const OUTAGE_SLEEP_MS = 1000;
/** After this many failed attempts an event is parked: operators decide about it. Later events never wait for it. */
const MAX_ATTEMPTS = 10;

/**
 * Handles the loaded events of the sources with one `feeds` value, for example `payments`. A consumer records each event in the
 * transaction of its effect, so a repeated event changes nothing.
 */
export interface Consumer {
  /**
   * Handles one event. Returns the outcome if the consumer recorded the event with `effect`; undefined if the consumer recognises
   * repeated events in its own way.
   */
  act(payload: unknown, effect: LoadedEffect): Promise<EffectOutcome | undefined>;
  /** True if a retry of this event can never succeed. */
  isFinal(error: unknown): boolean;
}

/**
 * The lock that only one process at a time holds while it hands these events to consumers. It only saves duplicate work: each event takes
 * effect once because its consumer records it in the transaction of the effect.
 */
const lockOf = (feeds: readonly string[]): Source => ({ name: `.effects.${feeds.join('.')}`, ids: 'listed', overlap: 0 });

/** Runs a statement and returns its rows. */
export type RunStatement = <Row>(text: string, values: unknown[]) => Promise<Row[]>;

/**
 * Hands the loaded events of its consumers to them: at least once, in the order of loading. Processes may have different consumers. Events that have not taken effect yet are rows of
 * the table `loaded_events_due`; a row is deleted only when its effect is committed. Events that keep failing are parked.
 */
export class DueEffects {
  private readonly feeds: readonly string[];

  constructor(
    private readonly run: RunStatement,
    private readonly consumers: ReadonlyMap<string, Consumer>,
    private readonly locks: LockFactory,
    private readonly logger: Logger,
  ) {
    this.feeds = [...consumers.keys()].sort();
  }

  /** Handles one batch of due events (loaded events whose effect is to be tried now). Returns how many took effect. */
  async runOnce(stop?: AbortSignal): Promise<number> {
    const lock = await this.locks.tryAcquire(lockOf(this.feeds));
    if (!lock) return 0;
    let done = 0;
    try {
      const { text, values } = NEXT_DUE_EVENTS.with({ feeds: this.feeds, limit: BATCH_SIZE });
      for (const event of await this.run<DueEvent>(text, [...values])) {
        if (stop?.aborted || !lock.isHeld) break;
        if (await this.act(event)) done += 1;
      }
      return done;
    } finally {
      await lock.release().catch(() => undefined);
    }
  }

  async runUntil(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const pauseMs = await this.runOnce(stop).then(
        (done) => (done > 0 ? 0 : IDLE_SLEEP_MS),
        (error: unknown) => {
          this.logger.warn({ err: error }, 'loaded events could not be handled; they are tried again');
          return OUTAGE_SLEEP_MS;
        },
      );
      if (pauseMs > 0 && !stop.aborted) await setTimeout(pauseMs);
    }
  }

  private async act({ source, eventId, feeds, payload }: DueEvent): Promise<boolean> {
    const consumer = this.consumers.get(feeds);
    const facts = { source, event_id: eventId };
    try {
      if (!consumer) throw new Error(`no consumer for feeds ${feeds}`);
      const outcome = await consumer.act(payload, new PostgresLoadedEffect(source, eventId));
      if (!outcome) await this.run('delete from loaded_events_due where source = $1 and event_id = $2', [source, eventId]);
      for (const conflict of outcome?.conflicts ?? [])
        this.logger.error({ ...facts, ...conflict }, 'a loaded event conflicts with our data');
      return true;
    } catch (error) {
      const isFinal = consumer?.isFinal(error) ?? false;
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, 500);
      this.logger.warn({ ...facts, err: error }, 'a loaded event had no effect');
      const failure = RECORD_EVENT_FAILURE.with({ source, eventId, reason, isFinal, maxAttempts: MAX_ATTEMPTS });
      await this.run(failure.text, [...failure.values]);
      return false;
    }
  }
}
