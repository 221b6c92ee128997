import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { orderAnswer, orderListAnswer } from '#contracts/orders';
import { pageQuery } from '#contracts/paging';
import { decodeCursor, page } from '#platform/http/paging';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { TicketingApi } from '../../../ticketing/ticketing.api.ts';
import { PurchaseReader } from '../application/purchase-reader.ts';
import { orderView } from './order-view.ts';

@ApiTags('purchase')
@Controller('api/v1/orders')
export class OrdersController {
  constructor(
    private readonly reader: PurchaseReader,
    private readonly ticketing: TicketingApi,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listOrders', access: 'fan' })
  @ApiOperation({
    summary: "The caller's orders, newest first",
    description: 'Orders of all states. Tickets are in an order once it is paid.',
  })
  @ApiOkResponse({ standardSchema: orderListAnswer })
  async list(
    @Query({ schema: pageQuery }) query: z.output<typeof pageQuery>,
    @Caller() caller: CallerIdentity,
  ): Promise<z.infer<typeof orderListAnswer>> {
    const orders = await this.reader.orders(caller.userId, decodeCursor(query.cursor), query.limit + 1);
    const tickets = await this.ticketing.ofOrders(orders.map(({ order }) => order.id));
    const view = (details: (typeof orders)[number]) => orderView(details, tickets.get(details.order.id) ?? []);
    return page(orders, query.limit, view, ({ order }) => order.id);
  }

  @Get(':id')
  @Endpoint({ operationId: 'getOrder', access: 'fan', status: 200, direct: true, refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'One order with its tickets and its timeline', description: "Another fan's order is 404." })
  @ApiOkResponse({ standardSchema: orderAnswer })
  async one(
    @Param('id', { schema: uuidField }) orderId: string,
    @Caller() caller: CallerIdentity,
  ): Promise<z.infer<typeof orderAnswer>> {
    const details = await this.reader.order(orderId, caller.userId);
    if (!details) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such order.' });
    // Tickets are made when the order is completed. Fans ask for an unpaid order again and again.
    if (details.order.status === 'awaiting_payment') return orderView(details, []);
    const tickets = await this.ticketing.ofOrders([orderId]);
    return orderView(details, tickets.get(orderId) ?? []);
  }
}
