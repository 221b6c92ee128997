import { webhookAnswer } from '#contracts/payments';
import type { Logger } from '#platform/logging/logger';
import { Endpoint } from '#platform/http/endpoint';
import { Controller, Headers, Inject, Post, Req } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { PaymentApi } from '../../../payment/payment.api.ts';
import { LOGGER } from '../../../tokens.ts';
import { SettlePayment } from '../application/settle-payment.ts';
import { loggedOrder } from './logged-order.ts';

/** Receives the provider's payment events. A repeated event is answered 200 and changes nothing. */
@ApiTags('payments')
@Controller('api/v1/payments/webhooks')
export class PaymentWebhookController {
  constructor(
    private readonly payments: PaymentApi,
    private readonly settlePayment: SettlePayment,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Post('stripe')
  @Endpoint({
    operationId: 'receiveStripeEvent',
    access: 'public',
    status: 200,
    body: 'raw',
    noAddressLimit: true,
    noKeyBecause: 'the event carries its own id',
    direct: true,
  })
  @ApiOperation({
    summary: "The provider's signed events",
    description:
      "For the provider only. The signature is checked over the bytes of the body (Stripe's scheme, which the sandbox uses too); a bad one is 400. A repeated event is 200 and changes nothing.",
  })
  @ApiHeader({ name: 'Stripe-Signature', required: true, description: 't=<seconds>,v1=<HMAC-SHA256 of `<seconds>.<body>`>' })
  @ApiBody({ schema: { type: 'object' }, description: 'An event as Stripe sends it; the signature is over its bytes' })
  @ApiOkResponse({ standardSchema: webhookAnswer, description: 'The event was applied now or earlier' })
  async stripe(
    @Req() request: FastifyRequest,
    @Headers('stripe-signature') signature: string | undefined,
  ): Promise<{ received: true }> {
    const event = this.payments.readWebhook(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0), signature);
    const { result: settled, order } = await this.settlePayment.execute(event);
    request.logged = loggedOrder(order);
    const facts = { event_id: event.eventId, type: event.type, intent_id: event.intentId, settled, ...request.logged };
    // An operator must look at a payment without an order. A refunded payment needs no operator: the fan gets a mail.
    if (event.outcome === 'succeeded' && settled === 'unknown intent') this.logger.error(facts, 'payment for an unknown order');
    else if (settled === 'refunded') this.logger.warn(facts, 'payment is refunded');
    else this.logger.info(facts, 'payment event');
    return { received: true };
  }
}
