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
    const rows = await inside(tx).rows('select 1 from loaded_events_due where source = $1 and event_id = $2 for update', [
      this.source,
      this.eventId,
    ]);
    return rows.length > 0;
  }

  async end(tx: Transaction, { conflicts, again }: EffectOutcome): Promise<void> {
    const { source, eventId } = this;
    const subjects = conflicts.map(({ subject }) => subject);
    await inside(tx).rows(RESOLVE_CONFLICTS.with({ source, eventId, subjects }));
    if (conflicts.length > 0) {
      await inside(tx).rows(RECORD_CONFLICTS.with({ source, eventId, conflicts: JSON.stringify(conflicts) }));
    }
    if (again) {
      await inside(tx).rows('update loaded_events_due set due_at = $3 where source = $1 and event_id = $2', [
        source,
        eventId,
        again,
      ]);
    } else {
      await inside(tx).rows('delete from loaded_events_due where source = $1 and event_id = $2', [source, eventId]);
    }
  }
}
