import { assertOutsideTransaction } from '#platform/postgres/open-transaction';
import type { Delivery, Destination, RelayedMessage } from '#messaging/outbox/destination';
import { z } from 'zod';
import type { PaymentProvider } from '../payment-provider.ts';
import { PAYMENTS_DESTINATION, type PaymentCommand } from '../payment.api.ts';
import { deliverEach, type FailureCause } from './deliver-each.ts';
import { ProviderUnavailable, ProviderRefused } from './provider-errors.ts';

const paymentCommand = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    intentId: z.string().min(1),
    amountCents: z.int().positive(),
    key: z.string().min(1).max(255),
  }),
  z.object({ kind: z.literal('cancel'), intentId: z.string().min(1) }),
]) satisfies z.ZodType<PaymentCommand>;

/**
 * Sends refunds and cancellations to the payment provider after our commit. A repeated command has no second effect: the provider
 * recognises a refund by its key, and a canceled intent stays canceled.
 */
export class PaymentsDestination implements Destination {
  readonly name = PAYMENTS_DESTINATION;
  /** A refund makes at most two calls of 10 s. The batch runs in parallel and must end before the relay's idle timeout of 60 s. */
  readonly batchSize = 10;

  constructor(private readonly provider: Pick<PaymentProvider, 'refund' | 'cancel'>) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    assertOutsideTransaction('A command to the payment provider');
    return deliverEach(messages, (message) => this.send(message), causeOf);
  }

  private async send({ body }: RelayedMessage): Promise<void> {
    const parsed = paymentCommand.safeParse(body);
    if (!parsed.success) throw new ProviderRefused('not a payment command');
    const command = parsed.data;
    await (command.kind === 'refund' ? this.provider.refund(command) : this.provider.cancel(command.intentId));
  }
}

function causeOf(error: unknown): FailureCause {
  if (error instanceof ProviderRefused) return 'poison';
  return error instanceof ProviderUnavailable && !error.isOnlyThisCall ? 'outage' : 'failed';
}
