import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { WebhookEvents } from '../../webhooks/webhook-events.api.ts';
import type { Quota } from '../tree/quota.ts';
import type { DueNotice, PostgresNotices } from './postgres-notices.ts';
import type { ReturnMails } from './return-mails.ts';

/**
 * Tells the contact of a quota about the return of its free places: 7 days and 1 day before, if places are free, and when it has
 * happened. The mark that a notice was planned commits with its mail, so each is sent once, whatever the number of replicas. Nobody is
 * told about a cancelled match.
 */
export class QuotaNotices {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly notices: PostgresNotices,
    private readonly mails: ReturnMails,
    private readonly webhooks: WebhookEvents,
  ) {}

  /** Writes the notices of returns to come that are due. Returns how many it has written. */
  async planDue(): Promise<number> {
    const due = await this.notices.due();
    if (due.length === 0) return 0;
    const free = await this.freePlaces(due.map(({ quotaId }) => quotaId));
    let planned = 0;
    for (const notice of due) {
      const places = free.get(notice.quotaId) ?? 0;
      if (places > 0 && (await this.plan(notice, places))) planned += 1;
    }
    return planned;
  }

  /** Tells partners of a return that takes effect in this transaction, and the contact of the quota, if it has one. */
  async returned(tx: Transaction, quota: Quota, places: number): Promise<void> {
    const data = { quota_id: quota.id, match_id: quota.matchId, name: quota.name, on_return: quota.onReturn, places };
    await this.webhooks.tell(tx, [{ type: 'quota.returned', subjectId: quota.id, data }]);
    if (quota.contactEmail === null || quota.returnAt === null) return;
    const match = await this.catalog.match(quota.matchId, tx);
    if (!match || match.cancelledAt !== null) return;
    if (await this.notices.planReturned(tx, quota.id, quota.returnAt))
      await this.mails.send(tx, match, quota, { kind: 'returned', places });
  }

  private plan({ quotaId, notice }: DueNotice, places: number): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const quota = await this.notices.plan(tx, { quotaId, notice });
      const match = quota && (await this.catalog.match(quota.matchId, tx));
      if (!match || match.cancelledAt !== null) return false;
      await this.mails.send(tx, match, quota, { kind: notice, places });
      return true;
    });
  }

  /** Quota id → number of its own free places. Read outside of transactions, because there it would conflict with each claim. */
  private async freePlaces(quotaIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const free = new Map<string, number>();
    for (const counts of await this.places.counts({ quotaIds: [...new Set(quotaIds)] }))
      if (counts.quotaId !== null) free.set(counts.quotaId, (free.get(counts.quotaId) ?? 0) + counts.free);
    return free;
  }
}
