import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Logger } from '#platform/logging/logger';
import type { Source } from '../core/event.ts';
import type { LockFactory } from '../core/ports.ts';
import type { DueEvent, DueEvents } from './due-events.ts';
import { PostgresLoadedEffect } from './postgres-loaded-effect.ts';

const BATCH_SIZE = 100;
const IDLE_SLEEP_MS = 200;
const OUTAGE_SLEEP_MS = 1000;

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
 * The lock that only one loader at a time holds while it hands events to consumers. It only saves duplicate work: each event takes
 * effect once because its consumer records it in the transaction of the effect.
 */
const EFFECTS_LOCK: Source = { name: '.effects', ids: 'listed', overlap: 0 };

/** Hands loaded events to their consumers: at least once, in the order of loading. Events that keep failing are parked. */
export class DueEffects {
  constructor(
    private readonly due: DueEvents,
    private readonly consumers: ReadonlyMap<string, Consumer>,
    private readonly locks: LockFactory,
    private readonly logger: Logger,
  ) {}

  /** Handles one batch of due events (loaded events whose effect is to be tried now). Returns how many took effect. */
  async runOnce(stop?: AbortSignal): Promise<number> {
    const lock = await this.locks.tryAcquire(EFFECTS_LOCK);
    if (!lock) return 0;
    let done = 0;
    try {
      for (const event of await this.due.next(BATCH_SIZE)) {
        if (stop?.aborted || !lock.isHeld) break;
        if (await this.act(event)) done += 1;
      }
      return done;
    } finally {
      await lock.release().catch(() => undefined);
    }
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const pauseMs = await this.runOnce(stop).then(
        (done) => (done > 0 ? 0 : IDLE_SLEEP_MS),
        (error: unknown) => {
          this.logger.warn({ err: error }, 'loaded events could not be handled; the loader retries');
          return OUTAGE_SLEEP_MS;
        },
      );
      if (pauseMs > 0 && !stop.aborted) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  private async act(event: DueEvent): Promise<boolean> {
    const consumer = this.consumers.get(event.feeds);
    try {
      if (!consumer) throw new Error(`no consumer for feeds ${event.feeds}`);
      const outcome = await consumer.act(event.payload, new PostgresLoadedEffect(event.source, event.eventId));
      if (!outcome) await this.due.done(event);
      for (const conflict of outcome?.conflicts ?? [])
        this.logger.error(
          { source: event.source, event_id: event.eventId, ...conflict },
          'a loaded event conflicts with our data',
        );
      return true;
    } catch (error) {
      const isFinal = consumer?.isFinal(error) ?? false;
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn({ source: event.source, event_id: event.eventId, err: error }, 'a loaded event had no effect');
      await this.due.failed(event, reason.slice(0, 500), isFinal);
      return false;
    }
  }
}
