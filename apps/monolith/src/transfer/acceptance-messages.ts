import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { TicketOffer } from '../ticketing/ticket-offers.api.ts';
import type { WebhookEvents } from '../webhooks/webhook-events.api.ts';
import type { OfferMessages } from './offer-messages.ts';

type Givers = Awaited<ReturnType<OfferMessages['giversOf']>>;

/** Tells of an accepted offer: its giver, and the partners who want to know. */
export class AcceptanceMessages {
  constructor(
    private readonly messages: OfferMessages,
    private readonly webhooks: WebhookEvents,
  ) {}

  /** Finds the address of the fan who made the offer. Call it before the transaction, and pass the result to `tell`. */
  giversOf(offer: TicketOffer): Promise<Givers> {
    return this.messages.giversOf([offer]);
  }

  async tell(tx: Transaction, accepted: TicketOffer, match: CatalogMatch, givers: Givers): Promise<void> {
    await this.messages.ended(tx, accepted, match, givers);
    const { newTicketId, ticketId, orderId, matchId } = accepted;
    const data = { ticket_id: newTicketId, former_ticket_id: ticketId, order_id: orderId, match_id: matchId };
    await this.webhooks.tell(tx, [{ type: 'ticket.transferred', subjectId: orderId, data }]);
  }
}
