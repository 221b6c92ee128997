import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page, pageQuery } from '#platform/http/paging';
import { givenId } from '#platform/http/text-fields';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { PurchaseReader } from '../application/purchase-reader.ts';
import { orderAnswer, orderView } from './purchase.schemas.ts';

const opsOrderAnswer = orderAnswer.extend({ user_id: z.guid(), email: z.string() }).meta({ id: 'OpsOrder' });

const opsOrderListAnswer = z
  .object({ items: z.array(opsOrderAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'OpsOrderList' });

const orderQuery = pageQuery.extend({
  match_id: givenId.optional(),
  user_id: givenId.optional(),
  status: orderAnswer.shape.status.optional(),
  q: z
    .string()
    .min(1)
    .max(254)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be plain text')
    .optional()
    .meta({ description: 'Number of the order or of its payment, or the whole e-mail address' }),
});

@ApiTags('operations')
@Controller('api/v1/ops/orders')
export class OpsOrdersController {
  constructor(
    private readonly reader: PurchaseReader,
    private readonly ticketing: TicketingApi,
  ) {}

  @Get()
  @Endpoint({ access: 'ops' })
  @ApiOperation({ summary: 'Orders of all fans, newest first' })
  @ApiOkResponse({ standardSchema: opsOrderListAnswer })
  async list(@Query({ schema: orderQuery }) query: z.output<typeof orderQuery>): Promise<z.infer<typeof opsOrderListAnswer>> {
    const { match_id: matchId, user_id: userId, status, q: text, cursor, limit } = query;
    const wanted = { matchId, userId, status, text, before: decodeCursor(cursor), limit: limit + 1 };
    const orders = await this.reader.search(wanted);
    const tickets = await this.ticketing.ofOrders(orders.map(({ order }) => order.id));
    return page(
      orders,
      limit,
      (details) => ({
        ...orderView(details, tickets.get(details.order.id) ?? []),
        user_id: details.order.userId,
        email: details.order.email,
      }),
      ({ order }) => order.id,
    );
  }
}
