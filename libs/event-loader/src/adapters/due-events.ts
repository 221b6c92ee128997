import type pg from 'pg';
import type { Payload } from '../core/event.ts';

export interface DueEvent {
  readonly source: string;
  readonly eventId: string;
  readonly feeds: string;
  readonly payload: Payload;
}

/** After this many failed attempts an event is parked for people. Later events never wait for it. */
const MAX_ATTEMPTS = 10;

/** Loaded events that have not taken effect yet. A row is deleted only when its effect is committed. */
export class DueEvents {
  constructor(private readonly pool: pg.Pool) {}

  async next(limit: number): Promise<DueEvent[]> {
    const { rows } = await this.pool.query<DueEvent>(
      `select d.source, d.event_id as "eventId", d.feeds, l.payload
       from loaded_events_due d join loaded_events l using (source, event_id)
       where d.parked_at is null and d.due_at <= now() order by d.seq limit $1`,
      [limit],
    );
    return rows;
  }

  async done({ source, eventId }: DueEvent): Promise<void> {
    await this.pool.query('delete from loaded_events_due where source = $1 and event_id = $2', [source, eventId]);
  }

  /** Schedules a retry after 1, 2, 4 … at most 300 seconds. A final error parks the event at once. */
  async failed({ source, eventId }: DueEvent, reason: string, isFinal: boolean): Promise<void> {
    await this.pool.query(
      `update loaded_events_due set attempts = attempts + 1, last_error = $3, due_at = now() + make_interval(secs => least(2 ^ attempts, 300)),
              parked_at = case when $4::boolean or attempts + 1 >= $5 then now() end
       where source = $1 and event_id = $2`,
      [source, eventId, reason, isFinal, MAX_ATTEMPTS],
    );
  }
}
