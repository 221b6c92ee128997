import { opsOrderListAnswer, opsOrderQuery, refundAnswer, refundRequest, type OpsOrder, type Order } from '#contracts/orders';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { uuidField } from '#contracts/text-fields';
import { Answers } from '#platform/idempotency/answers';
import type { Logger } from '#platform/logging/logger';
import { Body, Controller, Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { TicketingApi, type NamedTicket } from '../../../ticketing/ticketing.api.ts';
import { LOGGER } from '../../../tokens.ts';
import { PurchaseReader, type OrderDetails } from '../../checkout/application/purchase-reader.ts';
import { orderView } from '../../checkout/inbound/order-view.ts';
import { HoldObserver } from '../../hold/inbound/hold-observer.ts';
import { RefundTickets, type Refunded } from '../application/refund-tickets.ts';

const REFUND_DESCRIPTION = `The tickets become invalid at once, also when they were transferred to another fan. Their seats are for
sale again and count against nobody's limit. The price goes back to the card once, and the buyer gets a mail. The order stays
\`completed\` until its last ticket is refunded. Without \`ticket_ids\`, all remaining tickets of the order are refunded.

A repeated request for tickets that are already refunded changes nothing; then \`ticket_ids\` in \`refund\` is empty.

Refusals refund nothing. 404 \`NOT_FOUND\` with \`ticket_ids\`: these tickets are not of this order. 409 \`INVALID_STATE\` with
\`tickets\`: these tickets were used (somebody sits in the seat) or transferred. To refund a transferred ticket, name the receiver's
ticket, which has another id in the same order. 409 with \`order_status\`: the order was not paid.`;

const LIST_DESCRIPTION = `The filters can be combined. With \`match_id\`, \`q\` finds a part of an order number, an e-mail address, a holder's
name (also of a transferred ticket) or a ticket id, in any case. Without \`match_id\` it
finds such a part in the newest 10,000 orders and tickets, and in all others the beginning or the end of an order number or the beginning of
an e-mail address (three characters or more), or the beginning of a ticket id (12 digits or more), of each at most 1,000 orders. A payment intent id is found only as a whole.`;

@ApiTags('operations')
@Controller('api/v1/ops/orders')
export class OpsOrdersController {
  constructor(
    private readonly reader: PurchaseReader,
    private readonly ticketing: TicketingApi,
    private readonly refundTickets: RefundTickets,
    private readonly holdObserver: HoldObserver,
    private readonly answers: Answers,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listOpsOrders', access: 'ops:read', audited: 'order' })
  @ApiOperation({
    summary: 'Orders of all fans, newest first',
    description: LIST_DESCRIPTION,
  })
  @ApiOkResponse({ standardSchema: opsOrderListAnswer })
  async list(
    @Query({ schema: opsOrderQuery }) query: z.output<typeof opsOrderQuery>,
  ): Promise<z.infer<typeof opsOrderListAnswer>> {
    const { match_id: matchId, user_id: userId, status, q: text, cursor, limit } = query;
    const search = { matchId, userId, status, text, before: decodeCursor(cursor), limit: limit + 1 };
    const orders = await this.reader.search(search);
    const tickets = await this.ticketing.namedOfOrders(orders.map(({ order }) => order.id));
    const view = (details: OrderDetails) => opsOrderView(details, tickets.get(details.order.id) ?? []);
    return page(orders, limit, view, ({ order }) => order.id);
  }

  @Post(':id/refund')
  @Endpoint({ operationId: 'refundOrder', access: 'ops:money', audited: 'order', refusals: ['NOT_FOUND', 'INVALID_STATE'] })
  @ApiOperation({ summary: 'Refund an order, or some of its tickets', description: REFUND_DESCRIPTION })
  @ApiOkResponse({ standardSchema: refundAnswer })
  refund(
    @Caller() { userId: operator }: CallerIdentity,
    @Param('id', { schema: uuidField }) orderId: string,
    @Body({ schema: refundRequest }) body: z.output<typeof refundRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      async () => {
        const { ticket_ids: ticketIds } = body ?? {};
        const command = { orderId, ...(ticketIds ? { ticketIds } : {}) };
        const refunded = await this.holdObserver.ofRefund(this.refundTickets.execute(command));
        const facts = { order_id: orderId, ticket_ids: refunded.ticketIds, amount_cents: refunded.amount.amountCents, operator };
        this.logger.info(facts, 'refunded');
        return refunded;
      },
      (refunded) => ({ status: 200, body: refundView(refunded) }),
    );
  }
}

/** An order as operators see it: with its fan and email address, and with the seats and holders of its tickets. */
function opsOrderView(details: OrderDetails, tickets: readonly NamedTicket[]): OpsOrder {
  return { ...withFan(details, []), tickets: tickets.map(ticketOfOrderView) };
}

function ticketOfOrderView(ticket: NamedTicket): OpsOrder['tickets'][number] {
  const { id, status, seatId, sector, row, number, holderName } = ticket;
  return { id, status, seat: { seat_id: seatId, sector, row, number }, holder_name: holderName };
}

function withFan(details: OrderDetails, tickets: Readonly<Order['tickets']>): Omit<z.infer<typeof refundAnswer>, 'refund'> {
  return { ...orderView(details, tickets), user_id: details.order.userId, email: details.order.email };
}

/** The answer to a refund: the order after it, and what was refunded. */
function refundView({ details, tickets, ticketIds, amount }: Refunded & { details: OrderDetails }): z.infer<typeof refundAnswer> {
  const statuses = tickets.map(({ id, status }) => ({ id, status }));
  return {
    ...withFan(details, statuses),
    refund: { ticket_ids: [...ticketIds], amount_cents: amount.amountCents, currency: amount.currency },
  };
}
