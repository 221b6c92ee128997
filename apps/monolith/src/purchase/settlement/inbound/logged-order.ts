import type { Order } from '../../application/sale-ports.ts';

/**
 * What log lines about a payment say about its order, so that all lines of a purchase are found by one of its ids. The provider
 * calls us without the id of the checkout request, so it is taken from the order.
 */
export function loggedOrder(order: Order | undefined): Readonly<Record<string, string>> {
  if (!order) return {};
  const { id, number, reservationId, origin } = order;
  const checkout = origin ? { checkout_request_id: origin.requestId } : undefined;
  return { order_id: id, order_number: number, reservation_id: reservationId, ...checkout };
}
