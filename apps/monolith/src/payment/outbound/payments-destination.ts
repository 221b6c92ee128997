import { mustBeOutsideTransaction } from '#platform/postgres/open-transaction';
import type { Delivery, Destination, RelayedMessage } from '#platform/outbox/destination';
import { z } from 'zod';
import type { PaymentProvider } from '../application/ports.ts';
import { PAYMENTS_DESTINATION, type PaymentCommand } from '../payment.api.ts';
import { deliverEach, type Blame } from './deliver-each.ts';
import { ProviderAway, ProviderRefused } from './provider-errors.ts';

const paymentCommand = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    intentId: z.string().min(1),
    amountCents: z.int().positive(),
    key: z.string().min(1).max(255),
  }),
  z.object({ kind: z.literal('cancel'), intentId: z.string().min(1) }),
]) satisfies z.ZodType<PaymentCommand>;

/** Does at the provider what our commit decided. Repeats are recognised there: a refund by its key, a cancellation by itself. */
export class PaymentsDestination implements Destination {
  readonly name = PAYMENTS_DESTINATION;
  /** A refund is at most two calls of 10 s; the relay's transaction may idle for 60 s. */
  readonly batchSize = 10;

  constructor(private readonly provider: PaymentProvider) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    mustBeOutsideTransaction('A command to the payment provider');
    return deliverEach(messages, (message) => this.carryOut(message), blame);
  }

  private async carryOut({ body }: RelayedMessage): Promise<void> {
    const parsed = paymentCommand.safeParse(body);
    if (!parsed.success) throw new ProviderRefused('not a payment command');
    const command = parsed.data;
    await (command.kind === 'refund' ? this.provider.refund(command) : this.provider.cancel(command.intentId));
  }
}

function blame(error: unknown): Blame {
  if (error instanceof ProviderRefused) return 'poison';
  return error instanceof ProviderAway && !error.onlyThisCall ? 'nobody' : 'failed';
}
