import type { Transaction } from '#application/transaction-manager';
import type { TicketingApi } from '../../../ticketing/ticketing.api.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { OrderMessenger } from '../../settlement/outbound/order-messenger.ts';
import type { RefundConsequences, Refund, SoldTicket } from '../application/refund-ports.ts';

/** Invalidates the refunded tickets and writes all messages about them, in the transaction of the refund. */
export class PostgresRefundConsequences implements RefundConsequences {
  constructor(
    private readonly ticketing: TicketingApi,
    private readonly messenger: OrderMessenger,
  ) {}

  tickets(tx: Transaction, orderId: string): Promise<readonly SoldTicket[]> {
    return this.ticketing.lockOfOrder(tx, orderId);
  }

  async refunded(tx: Transaction, order: Order, { tickets, amount, key, isAnnounced }: Refund): Promise<void> {
    const ticketIds = tickets.map(({ id }) => id);
    await this.ticketing.refund(tx, ticketIds);
    await this.messenger.refunded(tx, order, amount, { key, cause: 'current request' });
    if (!isAnnounced) await this.messenger.informReceivers(tx, order, tickets);
  }
}
