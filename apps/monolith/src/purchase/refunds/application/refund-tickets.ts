import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { isRefundedWith, refundKey, ticketsToRefund } from '#domain/purchase/refund';
import type { Money } from '#domain/shared/money';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { Orders } from '../../checkout/application/ports.ts';
import type { OrderDetails } from '../../checkout/application/purchase-reader.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { RefundConsequences, Refunds, SoldTicket } from './refund-ports.ts';

/** A request to refund tickets of an order. */
export interface RefundCommand {
  readonly orderId: string;
  /** Ids of the tickets to refund. If omitted: all tickets of the order that can still be refunded. */
  readonly ticketIds?: readonly string[];
  /** Also refunds tickets that were scanned at the gate. Only for cancelled matches, where nobody sits in the seat. */
  readonly includeUsed?: boolean;
}

/** The result of a refund. `order` and `tickets` have their status after it. */
export interface Refunded {
  readonly order: Order;
  readonly statusBefore: Order['status'];
  readonly reservation: Reservation;
  readonly tickets: readonly SoldTicket[];
  /** Tickets refunded by this command. Empty if all of them were refunded before. */
  readonly ticketIds: readonly string[];
  readonly amount: Money;
}

/**
 * Refunds tickets of an order in one transaction. The tickets become invalid, also for a fan who got them by transfer. Their
 * seats are for sale again and count against no fan's limit. With its last ticket the order becomes `refunded`. A message in the
 * outbox tells the provider after the commit to pay the money back.
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
      const { order, statusBefore, ticketIds, amount, reservation } = refunded;
      recordChange(tx, {
        matchId: order.matchId,
        before: { status: statusBefore },
        after: { status: order.status, refundedTickets: ticketIds, ...amount },
      });
      const timeline = await this.refunds.timeline(tx, order.id);
      return { ...refunded, details: { order, seats: reservation.seats, timeline } };
    });
  }

  /** Refunds tickets of one order in the caller's transaction, which may refund several orders. */
  async refund(tx: Transaction, { orderId, ticketIds, includeUsed = false }: RefundCommand): Promise<Refunded> {
    const { order, reservation } = await this.lock(tx, orderId);
    const tickets = await this.consequences.tickets(tx, orderId);
    const refunding = ticketsToRefund(order, tickets, { ...(ticketIds ? { ticketIds } : {}), includeUsed });
    const amount = { amountCents: priceOf(reservation, refunding), currency: order.currency };
    if (refunding.length === 0) return { order, statusBefore: order.status, reservation, tickets, ticketIds: [], amount };
    const key = refundKey(orderId, tickets);
    const refund = { tickets: refunding, amount, key, isCounted: reservation.invitationId === null, isAnnounced: includeUsed };
    await this.refunds.giveBack(tx, order, refund);
    const isOrderRefunded = isRefundedWith(tickets, refunding);
    if (isOrderRefunded) await this.orders.setStatus(tx, [orderId], 'refunded', ['refunded']);
    else await this.orders.note(tx, orderId, 'tickets_refunded');
    await this.consequences.refunded(tx, order, refund);
    return {
      order: isOrderRefunded ? { ...order, status: 'refunded' } : order,
      statusBefore: order.status,
      reservation,
      tickets: tickets.map((ticket) => (refunding.includes(ticket) ? { ...ticket, status: 'refunded' } : ticket)),
      ticketIds: refunding.map(({ id }) => id),
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

function priceOf({ seats }: Reservation, tickets: readonly SoldTicket[]): number {
  const prices = new Map(seats.map(({ seatId, priceCents }) => [seatId, priceCents]));
  return tickets.reduce((sum, { id, seatId }) => {
    const price = prices.get(seatId);
    if (price === undefined) throw new Error(`ticket ${id} is for a seat that is not in its order`);
    return sum + price;
  }, 0);
}
