import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { Logger } from '#platform/logging/logger';
import type { Source } from '../core/event.ts';
import type { LockFactory } from '../core/ports.ts';
import type { DueEvent, DueEvents } from './due-events.ts';
import { PostgresLoadedEffect } from './postgres-loaded-effect.ts';

const BATCH = 100;
const IDLE_MS = 200;
const TROUBLE_MS = 1000;

/** Acts upon one event, in a transaction that remembers it: the same event again changes nothing. */
export interface Consumer {
  /** What came of it, where it noted that with `effect` itself; nothing where it remembers events in its own way. */
  act(payload: unknown, effect: LoadedEffect): Promise<EffectOutcome | undefined>;
  /** Could this event never succeed? */
  isFinal(error: unknown): boolean;
}

/** Saves the work of doing the same side by side; that it takes effect once is the consumer's own row. */
const EFFECTS: Source = { name: '.effects', ids: 'listed', overlap: 0 };

/** Hands loaded events to those who act upon them: at least once, in the order they were loaded, bad ones set aside. */
export class DueEffects {
  constructor(
    private readonly due: DueEvents,
    private readonly consumers: ReadonlyMap<string, Consumer>,
    private readonly locks: LockFactory,
    private readonly logger: Logger,
  ) {}

  /** How many were acted upon. */
  async runOnce(stop?: AbortSignal): Promise<number> {
    const lock = await this.locks.tryAcquire(EFFECTS);
    if (!lock) return 0;
    let done = 0;
    try {
      for (const event of await this.due.next(BATCH)) {
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
      const restMs = await this.runOnce(stop).then(
        (done) => (done > 0 ? 0 : IDLE_MS),
        (error: unknown) => {
          this.logger.warn({ err: error }, 'loaded events wait');
          return TROUBLE_MS;
        },
      );
      if (restMs > 0 && !stop.aborted) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  private async act(event: DueEvent): Promise<boolean> {
    const consumer = this.consumers.get(event.feeds);
    try {
      if (!consumer) throw new Error(`nobody acts upon ${event.feeds}`);
      const outcome = await consumer.act(event.payload, new PostgresLoadedEffect(event.source, event.eventId));
      if (!outcome) await this.due.done(event);
      for (const conflict of outcome?.conflicts ?? [])
        this.logger.error(
          { source: event.source, event_id: event.eventId, ...conflict },
          'a loaded event conflicts with what is here',
        );
      return true;
    } catch (error) {
      const isFinal = consumer?.isFinal(error) ?? false;
      const why = error instanceof Error ? error.message : String(error);
      this.logger.warn({ source: event.source, event_id: event.eventId, err: error }, 'a loaded event had no effect');
      await this.due.failed(event, why.slice(0, 500), isFinal);
      return false;
    }
  }
}
