import { pageQuery } from '#platform/http/paging';
import { uuidField } from '#platform/http/text-fields';
import { z } from 'zod';
import type { OrderDetails } from '../../checkout/application/purchase-reader.ts';
import { orderAnswer, orderView } from '../../checkout/inbound/purchase.schemas.ts';
import type { Refunded } from '../application/refund-tickets.ts';

const opsOrderAnswer = orderAnswer.extend({ user_id: z.guid(), email: z.string() }).meta({ id: 'OpsOrder' });

export const opsOrderListAnswer = z
  .object({ items: z.array(opsOrderAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'OpsOrderList' });

export const opsOrderQuery = pageQuery.extend({
  match_id: uuidField.optional(),
  user_id: uuidField.optional(),
  status: orderAnswer.shape.status.optional(),
  q: z
    .string()
    .min(1)
    .max(254)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be plain text')
    .optional()
    .meta({ description: 'Order number, payment intent id or complete e-mail address' }),
});

export const refundRequest = z
  .strictObject({
    ticket_ids: z
      .array(uuidField)
      .min(1)
      .max(20)
      .refine((ids) => new Set(ids).size === ids.length, 'names a ticket twice')
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

type TicketsOfOrder = Parameters<typeof orderView>[1];

/** An order as operators see it: with its fan and email address. */
export function opsOrderView(details: OrderDetails, tickets: TicketsOfOrder): z.infer<typeof opsOrderAnswer> {
  return { ...orderView(details, tickets), user_id: details.order.userId, email: details.order.email };
}

/** The answer to a refund: the order after it, and what was refunded. */
export function refundView({
  details,
  tickets,
  ticketIds,
  amount,
}: Refunded & { details: OrderDetails }): z.infer<typeof refundAnswer> {
  return {
    ...opsOrderView(
      details,
      tickets.map(({ id, status }) => ({ id, status })),
    ),
    refund: { ticket_ids: [...ticketIds], amount_cents: amount.amountCents, currency: amount.currency },
  };
}
