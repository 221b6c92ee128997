import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { setTimeout as pause } from 'node:timers/promises';
import { BlacklistApi } from '../../apps/monolith/src/blacklist/blacklist.api.ts';
import { CatalogApi } from '../../apps/monolith/src/catalog/catalog.api.ts';
import { FansApi } from '../../apps/monolith/src/fans/fans.api.ts';
import { PurchaseApi } from '../../apps/monolith/src/purchase/purchase.api.ts';
import type { WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { TicketOffers, type LockedOffer } from '../../apps/monolith/src/ticketing/ticket-offers.api.ts';
import { TicketingApi } from '../../apps/monolith/src/ticketing/ticketing.api.ts';
import { AcceptanceMessages } from '../../apps/monolith/src/transfer/acceptance-messages.ts';
import { AcceptOffer } from '../../apps/monolith/src/transfer/accept-offer.ts';
import { EndOffers } from '../../apps/monolith/src/transfer/end-offers.ts';
import { OfferMessages } from '../../apps/monolith/src/transfer/offer-messages.ts';
import { Receivers } from '../../apps/monolith/src/transfer/receivers.ts';
import { ReadCommittedTransactions } from './unguarded-refunds.ts';

/**
 * The negative control: acceptance and withdrawal without row locks, at READ COMMITTED. They read the offer and wait, so that a
 * concurrent call reads the same state; an acceptance waits longer, so that a withdrawal is answered first.
 */
export function unguardedTransfers(monolith: WholeMonolith): { readonly accept: AcceptOffer; readonly end: EndOffers } {
  const transactions = new ReadCommittedTransactions(monolith.dataSource);
  const unlocked = (waitMs: number): TicketOffers =>
    Object.create(monolith.get(TicketOffers), {
      lock: {
        async value(_tx: Transaction, offerId: string): Promise<LockedOffer | undefined> {
          const offer = await monolith.get(TicketOffers).find(offerId);
          await pause(waitMs);
          return offer && { ...offer, ticketStatus: 'valid', ticketHolderName: 'Fan' };
        },
      },
    }) as TicketOffers;
  const purchase = Object.create(monolith.get(PurchaseApi), {
    countAccepted: {
      async value(tx: Transaction, accepted: Parameters<PurchaseApi['countAccepted']>[1]): Promise<number | undefined> {
        const [counted] = await inside(tx).rows<{ received: number }>(
          `select received from fan_seats where match_id = $1 and user_id = $2`,
          [accepted.matchId, accepted.userId],
        );
        await pause(20);
        await monolith.get(PurchaseApi).countAccepted(tx, accepted);
        return counted?.received ?? 0;
      },
    },
  }) as PurchaseApi;
  const [ticketing, catalog, messages] = [monolith.get(TicketingApi), monolith.get(CatalogApi), monolith.get(OfferMessages)];
  const receivers = new Receivers(monolith.get(FansApi), monolith.get(BlacklistApi), purchase, ticketing);
  return {
    accept: new AcceptOffer(transactions, ticketing, unlocked(60), catalog, receivers, monolith.get(AcceptanceMessages)),
    end: new EndOffers(transactions, unlocked(20), catalog, messages),
  };
}
