import type { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { FanWithAddress, TicketOffer, TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { OfferMessages } from './offer-messages.ts';
import { assertOpen, isReceiver, unknownOffer } from './offer-rules.ts';

/** Offers that one transaction ends, so that it takes some milliseconds. */
const PAGE = 100;

/** Ends offers that nobody accepts: declined by the receiver, withdrawn by the giver, or expired. The ticket stays the giver's. */
export class EndOffers {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly offers: TicketOffers,
    private readonly catalog: CatalogApi,
    private readonly messages: OfferMessages,
  ) {}

  /** A repeated answer changes nothing. */
  async decline(offerId: string, receiver: FanWithAddress): Promise<TicketOffer> {
    const offered = await this.offers.find(offerId);
    if (!offered || !isReceiver(offered, receiver)) throw unknownOffer();
    const givers = await this.messages.giversOf([offered]);
    return this.transactions.run(async (tx) => {
      const offer = await this.offers.lock(tx, offerId);
      if (!offer) throw unknownOffer();
      if (offer.status === 'declined') return offer;
      assertOpen(offer);
      const match = await this.catalog.match(offer.matchId, tx);
      const declined = await this.offers.end(tx, offerId, 'declined');
      if (match) await this.messages.ended(tx, declined, match, givers);
      return declined;
    });
  }

  /** Does nothing if the offer has ended without an acceptance. */
  async withdraw(offerId: string, giverId: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const offer = await this.offers.lock(tx, offerId);
      if (!offer || offer.fromUserId !== giverId) throw unknownOffer();
      if (offer.status === 'accepted')
        throw new DomainError('INVALID_STATE', 'This offer was accepted: the ticket is another fan’s now.', {
          transfer_status: 'accepted',
        });
      if (offer.status === 'offered') await this.offers.end(tx, offerId, 'withdrawn');
    });
  }

  /** Ends the offers whose time is over, and tells their givers. Returns how many have ended. */
  async expireDue(): Promise<number> {
    let ended = 0;
    for (;;) {
      const due = await this.offers.due(PAGE);
      const expired = due.length > 0 ? await this.expire(due) : 0;
      ended += expired;
      if (due.length < PAGE || expired === 0) return ended;
    }
  }

  private async expire(due: readonly TicketOffer[]): Promise<number> {
    const givers = await this.messages.giversOf(due);
    return this.transactions.run(async (tx) => {
      const endedIds = await this.offers.expire(
        tx,
        due.map(({ id }) => id),
      );
      for (const offer of due) {
        const match = endedIds.includes(offer.id) ? await this.catalog.match(offer.matchId, tx) : undefined;
        if (match) await this.messages.ended(tx, offer, match, givers);
      }
      return endedIds.length;
    });
  }
}
