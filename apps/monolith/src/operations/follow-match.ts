import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { QuotaApi } from '../quota/quota.api.ts';
import type { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { WebhookEvents } from '../webhooks/webhook-events.api.ts';

/**
 * What changes with a match, in the transaction that changes it: the deadlines of its quotas, the offers of its tickets, and what
 * partners are told.
 */
export class FollowMatch {
  constructor(
    private readonly quotas: QuotaApi,
    private readonly offers: TicketOffers,
    private readonly webhooks: WebhookEvents,
  ) {}

  async execute(tx: Transaction, before: CatalogMatch, after: Omit<CatalogMatch, 'id'>): Promise<void> {
    const { id: matchId } = before;
    const { kickoffAt } = after;
    if (kickoffAt.getTime() !== before.kickoffAt.getTime()) {
      await this.quotas.followKickoff(tx, { matchId, kickoffAt });
      await this.offers.followKickoff(tx, { matchId, kickoffAt });
    }
    if (after.cancelledAt === null || before.cancelledAt !== null) return;
    await this.offers.withdrawOfMatch(tx, matchId);
    const data = { match_id: matchId, reason: after.cancelReason };
    await this.webhooks.tell(tx, [{ type: 'match.cancelled', subjectId: matchId, data }]);
  }
}
