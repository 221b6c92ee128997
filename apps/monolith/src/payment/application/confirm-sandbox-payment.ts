import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import {
  confirmSandboxIntent,
  type SandboxEventType,
  type SandboxIntentStatus,
  type SandboxOutcome,
} from '#domain/payment/sandbox-intent';
import { DomainError } from '#domain/shared/domain-error';
import { SANDBOX_WEBHOOK_DESTINATION, type SandboxIntent, type SandboxIntents } from './ports.ts';

interface ConfirmSandboxPaymentCommand {
  readonly intentId: string;
  readonly outcome: SandboxOutcome;
}

/** The fan at the provider's till: pays, fails to, or walks away. What happened is told to the shop through the outbox. */
export class ConfirmSandboxPayment {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly intents: SandboxIntents,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async execute({ intentId, outcome }: ConfirmSandboxPaymentCommand): Promise<{ intentId: string; status: SandboxIntentStatus }> {
    return this.transactions.run(async (tx) => {
      const intent = await this.intents.lock(tx, intentId);
      if (!intent) throw new DomainError('NOT_FOUND', 'There is no such payment.');
      const { status, event } = confirmSandboxIntent(intent.status, outcome);
      if (status !== intent.status) await this.intents.setStatus(tx, intentId, status);
      if (event) {
        const id = this.ids.next();
        const body = providerEvent({ id, type: event, intent: { ...intent, status }, at: this.clock.now() });
        await this.outbox.append(tx, [{ id, destination: SANDBOX_WEBHOOK_DESTINATION, event, aggregateId: intentId, body }]);
      }
      return { intentId, status };
    });
  }
}

/** In the shape Stripe sends, so that the shop cannot tell the two apart. */
function providerEvent({
  id,
  type,
  intent,
  at,
}: {
  id: string;
  type: SandboxEventType;
  intent: SandboxIntent;
  at: Date;
}): object {
  return {
    id: `evt_${id.replaceAll('-', '')}`,
    object: 'event',
    type,
    created: Math.floor(at.getTime() / 1000),
    livemode: false,
    data: {
      object: {
        id: intent.id,
        object: 'payment_intent',
        amount: intent.amountCents,
        amount_received: intent.status === 'succeeded' ? intent.amountCents : 0,
        currency: intent.currency.toLowerCase(),
        status: intent.status === 'succeeded' ? 'succeeded' : 'requires_payment_method',
        metadata: { order_id: intent.orderId },
      },
    },
  };
}
