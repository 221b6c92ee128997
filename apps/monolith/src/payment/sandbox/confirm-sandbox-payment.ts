import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import {
  confirmSandboxIntent,
  type SandboxEventType,
  type SandboxIntentStatus,
  type SandboxOutcome,
} from '../domain/sandbox-intent.ts';
import { DomainError } from '#domain/shared/domain-error';
import { SANDBOX_WEBHOOK_DESTINATION } from '../payment-provider.ts';
import type { SandboxIntent, SandboxIntents } from './sandbox-intents.ts';

interface ConfirmSandboxPaymentCommand {
  readonly intentId: string;
  readonly outcome: SandboxOutcome;
}

interface Confirmed {
  readonly intentId: string;
  readonly status: SandboxIntentStatus;
}

/**
 * Plays the part of the fan on the provider's payment page: the payment succeeds, fails or is abandoned. The outbox sends the
 * event to the shop (this monolith).
 */
export class ConfirmSandboxPayment {
  readonly execute: (command: ConfirmSandboxPaymentCommand) => Promise<Confirmed>;

  constructor(
    transactions: TransactionManager,
    private readonly intents: SandboxIntents,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    this.execute = transactions.together({
      many: (tx, commands) => this.confirmMany(tx, commands),
      one: (tx, command) => this.confirm(tx, command),
    });
  }

  private async confirm(tx: Transaction, { intentId, outcome }: ConfirmSandboxPaymentCommand): Promise<Confirmed> {
    const intent = await this.intents.lock(tx, intentId);
    if (!intent) throw new DomainError('NOT_FOUND', 'There is no such payment.');
    const { status, event } = confirmSandboxIntent(intent.status, outcome);
    if (status !== intent.status) await this.intents.setStatus(tx, [intentId], status);
    if (event) await this.outbox.append(tx, [this.eventMessage(intent, status, event)]);
    return { intentId, status };
  }

  /**
   * Handles the usual case: the first, successful payment of an intent. Returns undefined for every other command; `confirm` then
   * runs these one by one.
   */
  private async confirmMany(
    tx: Transaction,
    commands: readonly ConfirmSandboxPaymentCommand[],
  ): Promise<readonly (Confirmed | undefined)[]> {
    const intents = new Map(
      await this.intents.lockAvailable(
        tx,
        commands.map(({ intentId }) => intentId),
      ),
    );
    const messages: OutboxMessage[] = [];
    const confirmed = commands.map(({ intentId, outcome }) => {
      const intent = intents.get(intentId);
      if (intent?.status !== 'requires_payment' || outcome !== 'succeeded') return undefined;
      intents.delete(intentId);
      const { status, event } = confirmSandboxIntent(intent.status, outcome);
      if (event) messages.push(this.eventMessage(intent, status, event));
      return { intentId, status };
    });
    const paid = confirmed.flatMap((result) => result?.intentId ?? []);
    if (paid.length > 0) await this.intents.setStatus(tx, paid, 'succeeded');
    await this.outbox.append(tx, messages);
    return confirmed;
  }

  private eventMessage(intent: SandboxIntent, status: SandboxIntentStatus, event: SandboxEventType): OutboxMessage {
    const id = this.ids.next();
    const body = providerEvent({ id, type: event, intent: { ...intent, status }, at: this.clock.now() });
    return { id, destination: SANDBOX_WEBHOOK_DESTINATION, event, aggregateId: intent.id, body };
  }
}

/** The event has the same shape as Stripe's, so that the shop needs no special case for the sandbox. */
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
