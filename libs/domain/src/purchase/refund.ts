import { DomainError } from '../shared/domain-error.ts';
import type { OrderStatus } from './order.ts';

/** Every completed order of a cancelled match is refunded. One job is one page of orders and makes the next. */
export interface RefundMatch {
  readonly class: 'refund_match';
  readonly matchId: string;
  /** The last order of the page before; null on the first. */
  readonly afterOrderId: string | null;
  /** How often all of them have been gone through before: holds go on after the cancellation, and some are paid. */
  readonly round: number;
}

interface TicketOfOrder {
  readonly id: string;
  readonly status: 'valid' | 'used' | 'transferred' | 'refunded';
}

/**
 * Which tickets of an order die when money is given back for these, or for all that are left when none are named. Those that
 * are dead by a refund already are no longer among them: to ask again changes nothing. A used ticket has somebody in its seat,
 * which must not be sold again, so it is refunded with its whole match only.
 */
export function ticketsToRefund<T extends TicketOfOrder>(
  order: { readonly status: OrderStatus },
  tickets: readonly T[],
  asked: { readonly ticketIds?: readonly string[]; readonly usedToo: boolean },
): readonly T[] {
  const named = asked.ticketIds && namedOf(tickets, asked.ticketIds);
  if (order.status !== 'completed' && order.status !== 'refunded')
    throw new DomainError('INVALID_STATE', `An order that is ${order.status} has nothing to give back.`, {
      order_status: order.status,
    });
  const mayDie = ({ status }: T): boolean => status === 'valid' || (asked.usedToo && status === 'used');
  const dying = (named ?? tickets).filter(mayDie);
  const refused = named
    ? named.filter((ticket) => !mayDie(ticket) && ticket.status !== 'refunded')
    : tickets.filter(({ status }) => status === 'used' && dying.length === 0);
  if (refused.length > 0)
    throw new DomainError('INVALID_STATE', 'Tickets that were used, or given to somebody else, cannot be refunded.', {
      tickets: refused.map(({ id, status }) => ({ id, status })),
    });
  return dying;
}

/** With the last of its living tickets an order is refunded; until then it stays completed. */
export function isRefundedWith(tickets: readonly TicketOfOrder[], dying: readonly TicketOfOrder[]): boolean {
  const dead = new Set(dying.map(({ id }) => id));
  return tickets.every(({ id, status }) => dead.has(id) || (status !== 'valid' && status !== 'used'));
}

/**
 * What the payment provider recognises a refund by. It names the order and how many of its tickets were refunded before: of two
 * decisions from the same state only one gives money back, whoever made the mistake.
 */
export function refundKey(orderId: string, tickets: readonly TicketOfOrder[]): string {
  const before = tickets.filter(({ status }) => status === 'refunded').length;
  return `refund-${orderId}-${before}`;
}

function namedOf<T extends TicketOfOrder>(tickets: readonly T[], ticketIds: readonly string[]): readonly T[] {
  const known = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const unknown = ticketIds.filter((id) => !known.has(id));
  if (unknown.length > 0) throw new DomainError('NOT_FOUND', 'This order has no such ticket.', { ticket_ids: unknown });
  return ticketIds.flatMap((id) => known.get(id) ?? []);
}
