import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { isRefundedWith, refundKey, ticketsToRefund } from '#domain/purchase/refund';
import type { Money } from '#domain/shared/money';
import type { Order, Reservation } from '../../application/ports.ts';
import type { Orders } from '../../checkout/application/ports.ts';
import type { OrderDetails } from '../../checkout/application/purchase-reader.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { RefundConsequences, Refunds, SoldTicket } from './refund-ports.ts';

export interface RefundCommand {
  readonly orderId: string;
  /** Of this order; all that are left when none are named. */
  readonly ticketIds?: readonly string[];
  /** Those that have let somebody in, too: nobody sits there when the match was cancelled. */
  readonly usedToo?: boolean;
}

export interface Refunded {
  readonly order: Order;
  readonly reservation: Reservation;
  readonly tickets: readonly SoldTicket[];
  /** Given back by this command; nothing when it had been before. */
  readonly ticketIds: readonly string[];
  readonly amount: Money;
}

/**
 * Gives money back for tickets, in one transaction: they die, whoever has them now; their seats are for sale again and count
 * for nobody; the order is refunded with its last one. The money itself goes back after the commit, through the outbox.
 */
export class RefundTickets {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly refunds: Refunds,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly consequences: RefundConsequences,
  ) {}

  execute(command: RefundCommand): Promise<Refunded & { readonly details: OrderDetails }> {
    return this.transactions.run(async (tx) => {
      const refunded = await this.refund(tx, command);
      const { order, reservation } = refunded;
      const timeline = await this.refunds.timeline(tx, order.id);
      return { ...refunded, details: { order, seats: reservation.seats, timeline } };
    });
  }

  /** For who refunds many in a transaction of their own. */
  async refund(tx: Transaction, { orderId, ticketIds, usedToo = false }: RefundCommand): Promise<Refunded> {
    const { order, reservation } = await this.lock(tx, orderId);
    const tickets = await this.consequences.tickets(tx, orderId);
    const dying = ticketsToRefund(order, tickets, { ...(ticketIds ? { ticketIds } : {}), usedToo });
    const amount = { amountCents: costOf(reservation, dying), currency: order.currency };
    if (dying.length === 0) return { order, reservation, tickets, ticketIds: [], amount };
    const refund = { tickets: dying, amount, key: refundKey(orderId, tickets), isAnnounced: usedToo };
    await this.refunds.giveBack(tx, order, refund);
    const isWhole = isRefundedWith(tickets, dying);
    if (isWhole) await this.orders.setStatus(tx, [orderId], 'refunded', ['refunded']);
    else await this.orders.note(tx, orderId, 'tickets_refunded');
    await this.consequences.refunded(tx, order, refund);
    return {
      order: isWhole ? { ...order, status: 'refunded' } : order,
      reservation,
      tickets: tickets.map((ticket) => (dying.includes(ticket) ? { ...ticket, status: 'refunded' } : ticket)),
      ticketIds: dying.map(({ id }) => id),
      amount,
    };
  }

  private async lock(tx: Transaction, orderId: string): Promise<{ order: Order; reservation: Reservation }> {
    const reservationId = await this.refunds.reservationOf(tx, orderId);
    const reservation = reservationId ? await this.reservations.lock(tx, reservationId) : undefined;
    const order = reservation && (await this.orders.lock(tx, orderId));
    if (!order) throw new DomainError('NOT_FOUND', 'There is no such order.');
    return { order, reservation };
  }
}

function costOf({ seats }: Reservation, tickets: readonly SoldTicket[]): number {
  const prices = new Map(seats.map(({ seatId, priceCents }) => [seatId, priceCents]));
  return tickets.reduce((sum, { id, seatId }) => {
    const price = prices.get(seatId);
    if (price === undefined) throw new Error(`ticket ${id} is for a seat its order never had`);
    return sum + price;
  }, 0);
}
