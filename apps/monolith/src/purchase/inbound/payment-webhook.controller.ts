import type { Logger } from '#platform/logging/logger';
import { Endpoint } from '#platform/http/endpoint';
import { Controller, Headers, Inject, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { PaymentApi } from '../../payment/payment.api.ts';
import { LOGGER } from '../../tokens.ts';
import { SettlePayment } from '../application/settle-payment.ts';

/** Where the provider tells what became of a payment. Repeats are answered 200 and change nothing. */
@ApiTags('payments')
@Controller('api/v1/payments/webhooks')
export class PaymentWebhookController {
  constructor(
    private readonly payments: PaymentApi,
    private readonly settlePayment: SettlePayment,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Post('stripe')
  @Endpoint({ access: 'public', status: 200, body: 'raw', noAddressLimit: true, noKeyBecause: 'the event carries its own id' })
  @ApiOperation({ summary: "The provider's signed events" })
  async stripe(@Req() request: FastifyRequest, @Headers('stripe-signature') signature: string | undefined): Promise<{ received: true }> {
    const event = this.payments.readWebhook(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0), signature);
    const settled = await this.settlePayment.execute(event);
    this.logger.info({ event_id: event.eventId, type: event.type, intent_id: event.intentId, settled }, 'payment event');
    return { received: true };
  }
}
