import { z } from 'zod';
import { currency, idOf } from './answer-fields.ts';
import { pageOf, pageQuery } from './paging.ts';
import { reservedSeat, seatLabel } from './reservations.ts';
import { emailAddress, idList, personName, searchText, uuidField } from './text-fields.ts';
import { ticketStatus } from './tickets.ts';

/** What a fan enters at checkout: the name of each ticket holder and an e-mail address. */
export const checkOutRequest = z
  .strictObject({
    holders: z
      .array(
        z.strictObject({
          seat_id: uuidField.meta({ description: 'A seat of the reservation' }),
          name: personName.meta({ description: 'Name of the person who will sit there, printed on the ticket' }),
        }),
      )
      .min(1)
      .max(20)
      .meta({ description: 'One ticket holder for each seat of the reservation' }),
    email: emailAddress.meta({ description: 'Where the confirmation and the tickets are sent' }),
  })
  .meta({ id: 'CheckOutRequest' });
export type CheckOutRequest = z.infer<typeof checkOutRequest>;

const orderNumber = z.string().meta({ description: 'Number of the order for people, such as ORD-2026-001234' });
const orderStatus = z.enum(['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired']);
export type OrderStatus = z.infer<typeof orderStatus>;

/** The new order and how to pay it. */
export const checkOutAnswer = z
  .object({
    order_id: idOf('order'),
    number: orderNumber,
    status: orderStatus.meta({ description: '`awaiting_payment`, or `completed` for an order of 0 cents' }),
    payment: z
      .object({
        provider: z.string().meta({ description: 'The payment provider, such as `stripe` or `sandbox`' }),
        intent_id: z.string().meta({ description: 'Id of the payment intent at the provider' }),
        client_secret: z.string().meta({ description: "Secret with which the provider's form in the browser pays this intent" }),
        confirm_url: z.string().optional().meta({ description: 'Only with the sandbox: the URL that plays the payment page' }),
      })
      .nullable()
      .meta({ description: 'How to pay the order. Null for an order of 0 cents, which the checkout completes' }),
  })
  .meta({ id: 'CheckedOut' });
export type CheckedOut = z.infer<typeof checkOutAnswer>;

const ticketOfOrder = z.object({
  id: idOf('ticket'),
  status: ticketStatus.meta({ description: 'Whether the ticket admits its holder' }),
});

export const orderAnswer = z
  .object({
    id: idOf('order'),
    number: orderNumber,
    match_id: idOf('match'),
    reservation_id: idOf('reservation that was checked out'),
    status: orderStatus.meta({
      description: '`completed`: paid, until the last ticket is refunded. `expired`: the hold ended before the payment',
    }),
    total_cents: z.int().meta({ description: 'Sum of the prices of all seats, in cents' }),
    currency,
    seats: z.array(reservedSeat).meta({ description: 'The seats of the order' }),
    tickets: z.array(ticketOfOrder).meta({ description: 'The tickets of the order. Empty until it is paid' }),
    timeline: z
      .array(
        z.object({
          at: z.iso.datetime().meta({ description: 'When it happened' }),
          event: z.string().meta({ description: 'What happened, such as `created`' }),
        }),
      )
      .meta({ description: 'What happened to the order, oldest first' }),
  })
  .meta({ id: 'Order' });
export type Order = z.infer<typeof orderAnswer>;

export const orderListAnswer = pageOf(orderAnswer).meta({ id: 'OrderList' });

const orderWithFan = orderAnswer.extend({
  user_id: idOf('fan who bought'),
  email: z.string().meta({ description: 'Address that the fan gave at checkout' }),
});

/** An order as operators see it: with its fan and e-mail address, and with the seats and holders of its tickets. */
const opsOrderAnswer = orderWithFan
  .extend({
    tickets: z
      .array(
        ticketOfOrder.extend({
          seat: seatLabel.meta({ description: 'The place of the ticket' }),
          holder_name: z.string().meta({ description: 'Name that is printed on the ticket' }),
        }),
      )
      .meta({ description: 'The tickets of the order, also those that were transferred. Empty until it is paid' }),
  })
  .meta({ id: 'OpsOrder' });
export type OpsOrder = z.infer<typeof opsOrderAnswer>;

export const opsOrderListAnswer = pageOf(opsOrderAnswer).meta({ id: 'OpsOrderList' });

export const opsOrderQuery = pageQuery.extend({
  match_id: uuidField.optional().meta({ description: 'Only orders of this match' }),
  user_id: uuidField.optional().meta({ description: 'Only orders of this fan' }),
  status: orderStatus.optional().meta({ description: 'Only orders with this status' }),
  q: searchText(254).meta({
    description:
      'With `match_id`: a part of an order number, e-mail address, holder name or ticket id. Without: see the description of the route',
  }),
});

export const refundRequest = z
  .strictObject({
    ticket_ids: idList(uuidField, 20, 'names a ticket twice')
      .optional()
      .meta({ description: 'Tickets of this order; if omitted, all its remaining tickets' }),
  })
  .optional()
  .meta({ id: 'RefundRequest' });

export const refundAnswer = orderWithFan
  .extend({
    refund: z
      .object({
        ticket_ids: z.array(z.guid()).meta({ description: 'The tickets that this call refunded' }),
        amount_cents: z.int().meta({ description: 'The money that this call returns, in cents' }),
        currency,
      })
      .meta({ description: 'What this call refunded; empty if everything was refunded before' }),
  })
  .meta({ id: 'RefundedOrder' });
