import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { CatalogMatch } from '#domain/catalog/match';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { FanWithAddress, TicketOffer, TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { TicketingApi } from '../ticketing/ticketing.api.ts';
import type { KnownFans } from './known-fans.ts';
import type { OfferMessages } from './offer-messages.ts';
import { assertTransfersAllowed, isSameAddress } from './offer-rules.ts';

/** The ticket, its owner, and to whom it is offered: a fan, or the owner of an e-mail address. */
export interface OfferTicketCommand {
  readonly ticketId: string;
  readonly giver: FanWithAddress;
  readonly to: { readonly userId: string; readonly email: null } | { readonly userId: null; readonly email: string };
  readonly holderName: string | null;
}

/**
 * Offers a ticket to another fan. Nothing else changes: the ticket stays the giver's, and its code stays valid, until the receiver
 * accepts. So nobody gets a ticket that they did not ask for.
 *
 * The limit and the blacklist are not checked here but when the receiver accepts: the giver must not learn what another fan has
 * bought, or that a fan is on the list. For the same reason an offer to an address is answered without a search for its account.
 */
export class OfferTicket {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly ticketing: TicketingApi,
    private readonly offers: TicketOffers,
    private readonly catalog: CatalogApi,
    private readonly knownFans: KnownFans,
    private readonly messages: OfferMessages,
  ) {}

  execute({ ticketId, giver, to, holderName }: OfferTicketCommand): Promise<TicketOffer> {
    return this.transactions.run(async (tx) => {
      const ticket = await this.ticketing.lock(tx, ticketId, giver.userId);
      if (!ticket) throw new DomainError('NOT_FOUND', 'There is no such ticket.');
      if (to.userId !== null && !(await this.knownFans.has(tx, to.userId)))
        throw new DomainError('NOT_FOUND', 'There is no such fan.');
      const { matchId, status } = ticket;
      if (to.userId === giver.userId || isSameAddress(to.email, giver.email))
        throw new DomainError('INVALID_STATE', 'You already own this ticket.');
      if (status !== 'valid') throw new DomainError('INVALID_STATE', `This ticket was ${status}: it cannot be transferred.`);
      const match = await this.match(tx, matchId);
      assertTransfersAllowed(match);
      if (await this.offers.isOffered(tx, ticketId))
        throw new DomainError('INVALID_STATE', 'This ticket is offered already: withdraw that offer first.', {
          transfer_status: 'offered',
        });
      const { kickoffAt } = match;
      const fromUserId = giver.userId;
      const receiver = { toUserId: to.userId, toEmail: to.email };
      const offer = await this.offers.add(tx, { ticketId, matchId, kickoffAt, fromUserId, ...receiver, holderName });
      if (!offer) throw new DomainError('INVALID_STATE', 'The match has begun: its tickets cannot be transferred.');
      await this.messages.offered(tx, offer, match);
      return offer;
    });
  }

  private async match(tx: Transaction, matchId: string): Promise<CatalogMatch> {
    const match = await this.catalog.match(matchId, tx);
    if (!match) throw new Error(`a ticket exists for the unknown match ${matchId}`);
    return match;
  }
}
