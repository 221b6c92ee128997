import type pg from 'pg';
import type { Payload } from '../core/event.ts';
import { NEXT_DUE_EVENTS, RECORD_EVENT_FAILURE } from './due-events.sql.ts';

/** A loaded event that has not taken effect yet. */
export interface DueEvent {
  readonly source: string;
  readonly eventId: string;
  /** What the event feeds, for example `payments`. It selects the code that applies the event. */
  readonly feeds: string;
  readonly payload: Payload;
}

/** After this many failed attempts an event is parked: operators decide about it. Later events never wait for it. */
const MAX_ATTEMPTS = 10;

/**
 * The table `loaded_events_due`: loaded events that have not taken effect yet. A row is deleted only when its effect is
 * committed.
 */
export class DueEvents {
  constructor(private readonly pool: pg.Pool) {}

  async next(limit: number): Promise<DueEvent[]> {
    const { text, values } = NEXT_DUE_EVENTS.with({ limit });
    return (await this.pool.query<DueEvent>(text, values)).rows;
  }

  async done({ source, eventId }: DueEvent): Promise<void> {
    await this.pool.query('delete from loaded_events_due where source = $1 and event_id = $2', [source, eventId]);
  }

  /**
   * Records that the event could not be applied. Schedules a retry after 1, 2, 4 … at most 300 seconds. A final error parks the
   * event at once.
   */
  async failed({ source, eventId }: DueEvent, reason: string, isFinal: boolean): Promise<void> {
    const { text, values } = RECORD_EVENT_FAILURE.with({ source, eventId, reason, isFinal, maxAttempts: MAX_ATTEMPTS });
    await this.pool.query(text, values);
  }
}
