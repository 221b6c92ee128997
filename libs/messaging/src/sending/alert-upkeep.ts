import type { AlertChannel } from '#domain/notification/alert-operators';
import type { AlertNotes } from './alert-notes.ts';
import { notesOf, type Alert } from './alerts.ts';

/**
 * Makes sure that no alert is lost: finds failures without an alert note (a row of the table `alert_notes`), creates alerts for
 * the notes that are due, and retries failed alerts. Any number of processes may run it. Does nothing when no alert channel is
 * configured.
 */
export class AlertUpkeep {
  constructor(
    private readonly notes: Pick<AlertNotes, 'add' | 'createDueAlerts' | 'retryFailedAlerts'>,
    private readonly ways: readonly AlertChannel[],
    /** Functions that search for failures without an alert note. A call returns at most one batch; the next call finds more. */
    private readonly finders: readonly (() => Promise<readonly Alert[]>)[],
  ) {}

  /**
   * Returns the number of failures for which it stored notes. If one finder throws (Redis unavailable), the results of the other
   * finders and the due notes are handled before `runOnce` throws.
   */
  async runOnce(): Promise<number> {
    if (this.ways.length === 0) return 0;
    const searches = await Promise.allSettled(this.finders.map((find) => this.note(find)));
    await this.notes.createDueAlerts();
    await this.notes.retryFailedAlerts();
    const failed = searches.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed) throw failed.reason;
    return searches.reduce((sum, search) => sum + (search.status === 'fulfilled' ? search.value : 0), 0);
  }

  private async note(find: () => Promise<readonly Alert[]>): Promise<number> {
    const alerts = await find();
    await this.notes.add(alerts.flatMap((alert) => notesOf(alert, this.ways)));
    return alerts.length;
  }
}
