import type { Transaction } from '#application/transaction-manager';
import type { Money } from '#domain/shared/money';
import type { OrderToIssue, TicketingApi } from '../../../ticketing/ticketing.api.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { OrderConsequences, CompletedOrder } from '../../checkout/application/ports.ts';
import type { PostgresPurchaseWindows } from '../../turns/outbound/postgres-purchase-windows.ts';
import type { OrderMessenger } from './order-messenger.ts';

/** Writes what follows from a decision about an order, in the same transaction: tickets, the end of the turn, all messages. */
export class PostgresOrderConsequences implements OrderConsequences {
  constructor(
    private readonly ticketing: TicketingApi,
    private readonly windows: PostgresPurchaseWindows,
    private readonly messenger: OrderMessenger,
  ) {}

  async completed(tx: Transaction, completed: readonly CompletedOrder[]): Promise<void> {
    const sessionTokens = completed.flatMap(({ reservation }) => reservation.sessionToken ?? []);
    await Promise.all([
      this.windows.end(tx, sessionTokens, 'completed'),
      this.messenger.completed(tx, completed, () => this.ticketing.issue(tx, completed.map(ticketsToIssue))),
    ]);
  }

  refunded(tx: Transaction, order: Order, paid: Money): Promise<void> {
    // This refund returns the whole payment and is the first one for this order, so the order id alone makes a unique key.
    return this.messenger.refunded(tx, order, paid, { key: `refund-${order.id}`, cause: 'checkout' });
  }

  cancelled(tx: Transaction, order: Order): Promise<void> {
    return this.messenger.cancelled(tx, order);
  }
}

function ticketsToIssue({ order, reservation }: CompletedOrder): OrderToIssue {
  const holders = new Map(order.holders.map(({ seatId, name }) => [seatId, name]));
  return {
    orderId: order.id,
    matchId: order.matchId,
    userId: order.userId,
    seats: reservation.seats.map((seat) => ({ ...seat, holderName: holders.get(seat.seatId) ?? '' })),
  };
}
