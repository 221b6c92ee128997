import { emailAddress, uuidField, personName } from '#platform/http/text-fields';
import { z } from 'zod';
import type { Order } from '../../application/sale-ports.ts';
import { reservedSeat, seatsView } from '../../hold/inbound/reservations.schemas.ts';
import type { OrderDetails } from '../application/purchase-reader.ts';

export const checkOutRequest = z
  .strictObject({
    holders: z
      .array(z.strictObject({ seat_id: uuidField, name: personName }))
      .min(1)
      .max(20),
    email: emailAddress,
  })
  .meta({ id: 'CheckOutRequest' });

export const checkOutAnswer = z
  .object({
    order_id: z.guid(),
    number: z.string().meta({ example: 'ORD-2026-001234' }),
    status: z.enum(['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired']),
    payment: z
      .object({
        provider: z.string(),
        intent_id: z.string(),
        client_secret: z.string(),
        confirm_url: z.string().optional(),
      })
      .nullable()
      .meta({ description: 'null for an order of 0 cents, which the checkout completes' }),
  })
  .meta({ id: 'CheckedOut' });

export const orderAnswer = z
  .object({
    id: z.guid(),
    number: z.string(),
    match_id: z.guid(),
    reservation_id: z.guid(),
    status: z.enum(['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired']),
    total_cents: z.int(),
    currency: z.string(),
    seats: z.array(reservedSeat),
    tickets: z.array(z.object({ id: z.guid(), status: z.enum(['valid', 'used', 'transferred', 'refunded']) })),
    timeline: z.array(z.object({ at: z.iso.datetime(), event: z.string() })),
  })
  .meta({ id: 'Order' });

export const orderListAnswer = z
  .object({ items: z.array(orderAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'OrderList' });

/** An order as the answer to a checkout: with the payment data that the client needs. */
export function checkedOutView({ id, number, status, payment, totalCents }: Order): z.infer<typeof checkOutAnswer> {
  return {
    order_id: id,
    number,
    status,
    payment:
      totalCents === 0
        ? null
        : {
            provider: payment.provider,
            intent_id: payment.intentId ?? '',
            client_secret: payment.clientSecret ?? '',
            ...(payment.confirmUrl ? { confirm_url: payment.confirmUrl } : {}),
          },
  };
}

type TicketOfOrder = z.infer<typeof orderAnswer>['tickets'][number];

/** An order as its fan sees it. */
export function orderView(
  { order, seats, timeline }: OrderDetails,
  tickets: readonly TicketOfOrder[],
): z.infer<typeof orderAnswer> {
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
