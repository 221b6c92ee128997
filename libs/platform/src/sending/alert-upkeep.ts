import type { AlertWay } from '#domain/notification/alert-operators';
import type { AlertNotes } from './alert-notes.ts';
import { notesOf, type Alert } from './alerts.ts';

/**
 * Sees to it that no alert is lost: notes failures that nobody has reported, has told what is due, and has failed alerts tried
 * again. Any number of processes may run it. Where operators want to hear nothing it does nothing.
 */
export class AlertUpkeep {
  constructor(
    private readonly notes: Pick<AlertNotes, 'add' | 'tellOnce' | 'retryOnce'>,
    private readonly ways: readonly AlertWay[],
    /** Each finds failures that no alert tells of yet; more may be left when it answers any. */
    private readonly finders: readonly (() => Promise<readonly Alert[]>)[],
  ) {}

  /** How many failures it noted. One finder that fails (Redis is away) does not hold back the others, nor what is due. */
  async runOnce(): Promise<number> {
    if (this.ways.length === 0) return 0;
    const looks = await Promise.allSettled(this.finders.map((find) => this.note(find)));
    await this.notes.tellOnce();
    await this.notes.retryOnce();
    const failed = looks.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed) throw failed.reason;
    return looks.reduce((sum, look) => sum + (look.status === 'fulfilled' ? look.value : 0), 0);
  }

  private async note(find: () => Promise<readonly Alert[]>): Promise<number> {
    const alerts = await find();
    await this.notes.add(alerts.flatMap((alert) => notesOf(alert, this.ways)));
    return alerts.length;
  }
}
