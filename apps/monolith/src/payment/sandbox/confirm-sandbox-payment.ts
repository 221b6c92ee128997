import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Origin } from '#application/origin';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import {
  confirmSandboxIntent,
  type SandboxEventType,
  type SandboxIntent,
  type SandboxIntentStatus,
  type SandboxOutcome,
} from '../domain/sandbox-intent.ts';
import { DomainError } from '#domain/shared/domain-error';
import { SANDBOX_WEBHOOK_DESTINATION } from '../payment-provider.ts';
import type { SandboxIntents } from './sandbox-intents.ts';

type ConfirmSandboxPaymentCommand = {
  readonly intentId: string;
  readonly outcome: SandboxOutcome;
  /** The request itself. */
  readonly origin?: Origin | undefined;
};
type Confirmed = { readonly intentId: string; readonly status: SandboxIntentStatus };

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

  private async confirm(tx: Transaction, { intentId, outcome, origin }: ConfirmSandboxPaymentCommand): Promise<Confirmed> {
    const intent = await this.intents.lock(tx, intentId);
    if (!intent) throw new DomainError('NOT_FOUND', 'There is no such payment.');
    const { status, event } = confirmSandboxIntent(intent.status, outcome);
    if (status !== intent.status) await this.intents.setStatus(tx, [intentId], status);
    if (event) await this.outbox.append(tx, [{ ...this.eventMessage(intent, status, event), origin }]);
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
    const intentIds = commands.map(({ intentId }) => intentId);
    const intents = new Map(await this.intents.lockAvailable(tx, intentIds));
    const messages: OutboxMessage[] = [];
    const confirmed = commands.map(({ intentId, outcome, origin }) => {
      const intent = intents.get(intentId);
      if (intent?.status !== 'requires_payment' || outcome !== 'succeeded') return undefined;
      intents.delete(intentId);
      const { status, event } = confirmSandboxIntent(intent.status, outcome);
      if (event) messages.push({ ...this.eventMessage(intent, status, event), origin });
      return { intentId, status };
    });
    const paid = confirmed.flatMap((result) => result?.intentId ?? []);
    if (paid.length > 0) await this.intents.setStatus(tx, paid, 'succeeded');
    await this.outbox.append(tx, messages);
    return confirmed;
  }

  /** The event has the same shape as Stripe's, so that the shop needs no special case for the sandbox. */
  private eventMessage(intent: SandboxIntent, status: SandboxIntentStatus, type: SandboxEventType): OutboxMessage {
    const id = this.ids.next();
    const isPaid = status === 'succeeded';
    const object = {
      id: intent.id,
      object: 'payment_intent',
      amount: intent.amountCents,
      amount_received: isPaid ? intent.amountCents : 0,
      currency: intent.currency.toLowerCase(),
      status: isPaid ? 'succeeded' : 'requires_payment_method',
      metadata: { order_id: intent.orderId },
    };
    const created = Math.floor(this.clock.now().getTime() / 1000);
    const body = { id: `evt_${id.replaceAll('-', '')}`, object: 'event', type, created, livemode: false, data: { object } };
    return { id, destination: SANDBOX_WEBHOOK_DESTINATION, event: type, aggregateId: intent.id, body };
  }
}
