import type { Order } from '#contracts/orders';
import { seatsView } from '../../hold/inbound/reservation-view.ts';
import type { OrderDetails } from '../application/purchase-reader.ts';

/** An order as its fan sees it. */
export function orderView({ order, seats, timeline }: OrderDetails, tickets: Readonly<Order['tickets']>): Order {
  return {
    id: order.id,
    number: order.number,
    match_id: order.matchId,
    reservation_id: order.reservationId,
    status: order.status,
    total_cents: order.totalCents,
    currency: order.currency,
    seats: seatsView(seats),
    tickets: [...tickets],
    timeline: [...timeline],
  };
}
