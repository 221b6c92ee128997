import { DomainError } from '../shared/domain-error.ts';
import type { OrderStatus } from './order.ts';

/**
 * Background job: refunds the completed orders of a cancelled match. One job handles one page of orders and adds the job for the
 * next page.
 */
export interface RefundMatch {
  readonly class: 'refund_match';
  readonly matchId: string;
  /** The last order of the previous page; null for the first page. */
  readonly afterOrderId: string | null;
  /**
   * Number of complete passes before this one. Passes are repeated because holds made before the cancellation may still be paid.
   */
  readonly round: number;
}

interface TicketOfOrder {
  readonly id: string;
  readonly status: 'valid' | 'used' | 'transferred' | 'refunded';
}

/**
 * The tickets to refund: those the request names, or else all refundable tickets of the order. Tickets refunded before are left
 * out, so a repeated request changes nothing. A used ticket has somebody in its seat, and the seat must not be sold again. So
 * used tickets are refunded only when the whole match is cancelled (`includeUsed`).
 */
export function ticketsToRefund<T extends TicketOfOrder>(
  order: { readonly status: OrderStatus },
  tickets: readonly T[],
  request: { readonly ticketIds?: readonly string[]; readonly includeUsed: boolean },
): readonly T[] {
  const named = request.ticketIds && findNamed(tickets, request.ticketIds);
  if (order.status !== 'completed' && order.status !== 'refunded')
    throw new DomainError('INVALID_STATE', `An order that is ${order.status} has nothing to refund.`, {
      order_status: order.status,
    });
  const isRefundable = ({ status }: T): boolean => status === 'valid' || (request.includeUsed && status === 'used');
  const refundable = (named ?? tickets).filter(isRefundable);
  const refused = named
    ? named.filter((ticket) => !isRefundable(ticket) && ticket.status !== 'refunded')
    : tickets.filter(({ status }) => status === 'used' && refundable.length === 0);
  if (refused.length > 0)
    throw new DomainError('INVALID_STATE', 'Tickets that were used or transferred cannot be refunded.', {
      tickets: refused.map(({ id, status }) => ({ id, status })),
    });
  return refundable;
}

/** True if the order is completely refunded once the tickets `refunding` are: no other ticket of the order is valid or used. */
export function isRefundedWith(tickets: readonly TicketOfOrder[], refunding: readonly TicketOfOrder[]): boolean {
  const refundingIds = new Set(refunding.map(({ id }) => id));
  return tickets.every(({ id, status }) => refundingIds.has(id) || (status !== 'valid' && status !== 'used'));
}

/**
 * Idempotency key of a refund at the payment provider: the order and the number of its tickets refunded before. If the same
 * refund is decided twice by mistake, both decisions have the same key, and the provider pays back once.
 */
export function refundKey(orderId: string, tickets: readonly TicketOfOrder[]): string {
  const before = tickets.filter(({ status }) => status === 'refunded').length;
  return `refund-${orderId}-${before}`;
}

function findNamed<T extends TicketOfOrder>(tickets: readonly T[], ticketIds: readonly string[]): readonly T[] {
  const known = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const unknown = ticketIds.filter((id) => !known.has(id));
  if (unknown.length > 0) throw new DomainError('NOT_FOUND', 'This order has no such ticket.', { ticket_ids: unknown });
  return ticketIds.flatMap((id) => known.get(id) ?? []);
}
