import { LoadedEffect, type EffectOutcome } from '#application/loaded-effect';
import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { RECORD_CONFLICTS, RESOLVE_CONFLICTS } from './due-events.sql.ts';

/**
 * Applies a loaded event once: the event's row in `loaded_events_due` is deleted, or delayed for a second attempt, in the
 * transaction of the effect.
 */
export class PostgresLoadedEffect extends LoadedEffect {
  constructor(
    readonly source: string,
    readonly eventId: string,
  ) {
    super();
  }

  async begin(tx: Transaction): Promise<boolean> {
    const statement = 'select 1 from loaded_events_due where source = $1 and event_id = $2 for update';
    return (await inside(tx).rows(statement, [this.source, this.eventId])).length > 0;
  }

  async end(tx: Transaction, { conflicts, again }: EffectOutcome): Promise<void> {
    const { source, eventId } = this;
    const postgres = inside(tx);
    const subjects = conflicts.map(({ subject }) => subject);
    await postgres.rows(RESOLVE_CONFLICTS.with({ source, eventId, subjects }));
    if (conflicts.length > 0)
      await postgres.rows(RECORD_CONFLICTS.with({ source, eventId, conflicts: JSON.stringify(conflicts) }));
    const [change, values] = again
      ? ['update loaded_events_due set due_at = $3', [source, eventId, again]]
      : ['delete from loaded_events_due', [source, eventId]];
    await postgres.rows(`${change} where source = $1 and event_id = $2`, values);
  }
}
