import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch } from '../catalog/catalog.api.ts';
import type { FanWithAddress, LockedOffer, TicketOffer, TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { TicketingApi } from '../ticketing/ticketing.api.ts';
import type { AcceptanceMessages } from './acceptance-messages.ts';
import { assertOpen, assertTransfersAllowed, isReceiver, unknownOffer } from './offer-rules.ts';
import type { Receivers } from './receivers.ts';

/** The receiver, and the name for the ticket if the receiver gives one. */
export interface AcceptOfferCommand {
  readonly offerId: string;
  readonly receiver: FanWithAddress;
  readonly holderName: string | null;
}

/**
 * Makes the ticket the receiver's: the giver's code becomes invalid, and the receiver gets a new ticket with a new code. It counts
 * for the receiver's limit from now on, and goes on counting for the giver's. A repeated acceptance by the same fan changes nothing.
 */
export class AcceptOffer {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly ticketing: TicketingApi,
    private readonly offers: TicketOffers,
    private readonly catalog: CatalogApi,
    private readonly receivers: Receivers,
    private readonly messages: AcceptanceMessages,
  ) {}

  async execute({ offerId, receiver, holderName }: AcceptOfferCommand): Promise<TicketOffer> {
    const offered = await this.offers.find(offerId);
    if (!offered || !isReceiver(offered, receiver)) throw unknownOffer();
    const givers = await this.messages.giversOf(offered);
    const profileName = await this.receivers.nameOf(receiver.userId);
    return this.transactions.run(async (tx) => {
      const offer = await this.offers.lock(tx, offerId);
      if (!offer) throw unknownOffer();
      if (offer.status === 'accepted' && offer.toUserId === receiver.userId) return offer;
      await this.receivers.assertNotBlacklisted(tx, receiver.userId);
      assertAcceptable(offer, receiver.userId);
      const match = await this.match(tx, offer.matchId);
      assertTransfersAllowed(match);
      await this.receivers.count(tx, offer, { userId: receiver.userId, limit: match.maxTicketsPerFan });
      const name = holderName ?? offer.holderName ?? profileName ?? offer.ticketHolderName;
      const to = { userId: receiver.userId, holderName: name, from: offer.fromUserId };
      const newTicketId = await this.ticketing.handOver(tx, offer.ticketId, to);
      const accepted = await this.offers.accept(tx, offerId, { userId: receiver.userId, newTicketId });
      await this.messages.tell(tx, accepted, match, givers);
      return accepted;
    });
  }

  private async match(tx: Transaction, matchId: string): Promise<CatalogMatch> {
    const match = await this.catalog.match(matchId, tx);
    if (!match) throw new Error(`an offer exists for the unknown match ${matchId}`);
    return match;
  }
}

function assertAcceptable(offer: LockedOffer, userId: string): void {
  assertOpen(offer);
  if (offer.fromUserId === userId) throw new DomainError('INVALID_STATE', 'You already own this ticket.');
  if (offer.ticketStatus !== 'valid')
    throw new DomainError('INVALID_STATE', `This ticket was ${offer.ticketStatus}: it cannot be transferred.`);
}
