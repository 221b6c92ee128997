import { sandboxConfirmationAnswer, sandboxConfirmationRequest, sandboxIntentId } from '#contracts/payments';
import { Endpoint } from '#platform/http/endpoint';
import { currentOrigin } from '#platform/tracing/origin';
import { RequestRefused } from '#platform/http/request-refused';
import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG } from '../../tokens.ts';
import { ConfirmSandboxPayment } from './confirm-sandbox-payment.ts';

/** Plays the provider's payment page: a client with the `confirm_url` chooses the outcome of the payment. */
@ApiTags('sandbox')
@Controller('api/v1/sandbox/payments')
export class SandboxController {
  constructor(
    private readonly confirmSandboxPayment: ConfirmSandboxPayment,
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'PAYMENT_PROVIDER'>,
  ) {}

  @Post(':intent_id/confirm')
  @Endpoint({
    operationId: 'confirmSandboxPayment',
    access: 'public',
    status: 202,
    noKeyBecause: 'it plays the payment provider, whose events carry their own id',
    direct: true,
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Choose how a sandbox payment ends',
    description:
      'Only with `PAYMENT_PROVIDER=sandbox`; otherwise 404. The signed event reaches the webhook within a second, as from a real provider.',
  })
  @ApiAcceptedResponse({ standardSchema: sandboxConfirmationAnswer })
  async confirm(
    @Param('intent_id', { schema: sandboxIntentId }) intentId: string,
    @Body({ schema: sandboxConfirmationRequest }) { outcome }: z.output<typeof sandboxConfirmationRequest>,
  ): Promise<z.output<typeof sandboxConfirmationAnswer>> {
    // With a real provider, confirming an old sandbox intent would give a ticket away without money.
    if (this.config.PAYMENT_PROVIDER !== 'sandbox')
      throw new RequestRefused('NOT_FOUND', { detail: 'There is no such payment.' });
    const { status } = await this.confirmSandboxPayment.execute({ intentId, outcome, origin: currentOrigin() });
    return { intent_id: intentId, status };
  }
}
