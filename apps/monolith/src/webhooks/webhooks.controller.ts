import { pageQuery } from '#contracts/paging';
import { uuidField } from '#contracts/text-fields';
import {
  createWebhookRequest,
  deliveryQuery,
  webhookCreatedAnswer,
  webhookDeliveryAnswer,
  webhookDeliveryListAnswer,
  webhookListAnswer,
} from '#contracts/webhooks';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { RequestRefused } from '#platform/http/request-refused';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { ChangeWebhooks } from './change-webhooks.ts';
import { PostgresWebhooks, type CountedWebhook, type Webhook, type WebhookDelivery } from './postgres-webhooks.ts';

const CREATE = `Events are sent by POST as \`{id, type, created_at, data}\`, with the header \`Tribina-Signature: t=…,v1=…\`: the scheme of
Stripe, HMAC-SHA256 over time, dot and body with the secret of this answer, which is shown only here. Answer 2xx within 10 seconds.
Anything else is sent again for 24 hours, redirects are not followed, and the events of one order, match, … arrive in their order. The
same \`id\` may arrive twice.`;

@ApiTags('operations')
@Controller('api/v1/ops/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: PostgresWebhooks,
    private readonly change: ChangeWebhooks,
    private readonly answers: Answers,
  ) {}

  @Get()
  @Endpoint({ operationId: 'listWebhooks', access: 'ops' })
  @ApiOperation({ summary: 'The webhooks of partners, newest first', description: 'With how much could not be delivered.' })
  @ApiOkResponse({ standardSchema: webhookListAnswer })
  async list(@Query({ schema: pageQuery }) query: z.output<typeof pageQuery>): Promise<z.infer<typeof webhookListAnswer>> {
    const found = await this.webhooks.list({ before: decodeCursor(query.cursor), limit: query.limit + 1 });
    return page(found, query.limit, countedView, ({ id }) => id);
  }

  @Post()
  @Endpoint({ operationId: 'createWebhook', access: 'ops', audited: 'webhook', refusals: ['INVALID_STATE'] })
  @ApiOperation({ summary: 'Tell a partner of events', description: CREATE })
  @ApiCreatedResponse({ standardSchema: webhookCreatedAnswer })
  create(
    @Caller() { userId: by }: CallerIdentity,
    @Body({ schema: createWebhookRequest }) { url, events }: z.output<typeof createWebhookRequest>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.change.add({ url, events, by }),
      (webhook) => ({
        status: 201,
        location: `/api/v1/ops/webhooks/${webhook.id}`,
        body: { ...webhookView(webhook), secret: webhook.secret } satisfies z.infer<typeof webhookCreatedAnswer>,
        isSecret: true,
      }),
    );
  }

  @Delete(':id')
  @Endpoint({ operationId: 'deleteWebhook', access: 'ops', audited: 'webhook', status: 204, body: 'none' })
  @ApiOperation({
    summary: 'Tell a partner of no more events; 204 also if there is no such webhook',
    description: 'What was not delivered yet is given up.',
  })
  @ApiNoContentResponse()
  delete(@Param('id', { schema: uuidField }) id: string): Promise<void> {
    return this.change.delete(id);
  }

  @Get(':id/deliveries')
  @Endpoint({ operationId: 'listWebhookDeliveries', access: 'ops', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'What was sent to a webhook, newest first', description: 'Kept for 30 days.' })
  @ApiOkResponse({ standardSchema: webhookDeliveryListAnswer })
  async deliveries(
    @Param('id', { schema: uuidField }) id: string,
    @Query({ schema: deliveryQuery }) { state, cursor, limit }: z.output<typeof deliveryQuery>,
  ): Promise<z.infer<typeof webhookDeliveryListAnswer>> {
    if (!(await this.webhooks.find(id))) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such webhook.' });
    const found = await this.webhooks.deliveries(id, { state, before: decodeCursor(cursor), limit: limit + 1 });
    return page(found, limit, deliveryView, (delivery) => delivery.id);
  }

  @Post(':id/deliveries/:delivery_id/retry')
  @Endpoint({
    operationId: 'retryWebhookDelivery',
    access: 'ops',
    audited: 'webhook',
    status: 200,
    body: 'none',
    refusals: ['NOT_FOUND'],
  })
  @ApiOperation({
    summary: 'Send a delivery again, within a second',
    description: 'Also one that was delivered. The partner recognises the event by its `id`.',
  })
  @ApiOkResponse({ standardSchema: webhookDeliveryAnswer })
  retry(
    @Param('id', { schema: uuidField }) webhookId: string,
    @Param('delivery_id', { schema: uuidField }) id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answers.give(
      reply,
      () => this.change.sendAgain(webhookId, id),
      (delivery) => ({ status: 200, body: deliveryView(delivery) }),
    );
  }
}

const webhookView = ({ id, url, events, createdBy, createdAt }: Webhook) => ({
  id,
  url,
  events: [...events],
  created_by: createdBy,
  created_at: createdAt.toISOString(),
});

const countedView = ({ pending, failed, ...webhook }: CountedWebhook) => ({
  ...webhookView(webhook),
  deliveries: { pending, failed },
});

function deliveryView(delivery: WebhookDelivery): z.infer<typeof webhookDeliveryAnswer> {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
    body: delivery.body,
  };
}
