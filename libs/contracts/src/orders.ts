import { z } from 'zod';
import { pageOf, pageQuery } from './paging.ts';
import { reservedSeat } from './reservations.ts';
import { emailAddress, idList, personName, searchText, uuidField } from './text-fields.ts';
import { ticketStatus } from './tickets.ts';

/** What a fan enters at checkout: the name of each ticket holder and an e-mail address. */
export const checkOutRequest = z
  .strictObject({
    holders: z
      .array(z.strictObject({ seat_id: uuidField, name: personName }))
      .min(1)
      .max(20),
    email: emailAddress,
  })
  .meta({ id: 'CheckOutRequest' });
export type CheckOutRequest = z.infer<typeof checkOutRequest>;

const orderStatus = z.enum(['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired']);
export type OrderStatus = z.infer<typeof orderStatus>;

/** The new order and how to pay it. */
export const checkOutAnswer = z
  .object({
    order_id: z.guid(),
    number: z.string().meta({ example: 'ORD-2026-001234' }),
    status: orderStatus,
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
export type CheckedOut = z.infer<typeof checkOutAnswer>;

export const orderAnswer = z
  .object({
    id: z.guid(),
    number: z.string(),
    match_id: z.guid(),
    reservation_id: z.guid(),
    status: orderStatus,
    total_cents: z.int(),
    currency: z.string(),
    seats: z.array(reservedSeat),
    tickets: z.array(z.object({ id: z.guid(), status: ticketStatus })),
    timeline: z.array(z.object({ at: z.iso.datetime(), event: z.string() })),
  })
  .meta({ id: 'Order' });
export type Order = z.infer<typeof orderAnswer>;

export const orderListAnswer = pageOf(orderAnswer).meta({ id: 'OrderList' });

/** An order as operators see it: with its fan and e-mail address. */
const opsOrderAnswer = orderAnswer.extend({ user_id: z.guid(), email: z.string() }).meta({ id: 'OpsOrder' });
export type OpsOrder = z.infer<typeof opsOrderAnswer>;

export const opsOrderListAnswer = pageOf(opsOrderAnswer).meta({ id: 'OpsOrderList' });

export const opsOrderQuery = pageQuery.extend({
  match_id: uuidField.optional(),
  user_id: uuidField.optional(),
  status: orderStatus.optional(),
  q: searchText(254).meta({ description: 'Order number, payment intent id or complete e-mail address' }),
});

export const refundRequest = z
  .strictObject({
    ticket_ids: idList(uuidField, 20, 'names a ticket twice')
      .optional()
      .meta({ description: 'Tickets of this order; if omitted, all its remaining tickets' }),
  })
  .optional()
  .meta({ id: 'RefundRequest' });

export const refundAnswer = opsOrderAnswer
  .extend({
    refund: z
      .object({ ticket_ids: z.array(z.guid()), amount_cents: z.int(), currency: z.string() })
      .meta({ description: 'What this call refunded; empty if everything was refunded before' }),
  })
  .meta({ id: 'RefundedOrder' });
