import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { publicUrls } from '#platform/config/settings';
import type { Destination } from '#messaging/outbox/destination';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { PaymentProvider } from './payment-provider.ts';
import { PaymentsDestination } from './outbound/payments-destination.ts';
import { SandboxWebhooks } from './outbound/sandbox-webhooks.ts';
import { StripeClient } from './outbound/stripe-client.ts';
import { StripePayments } from './outbound/stripe-payments.ts';
import { PaymentApi } from './payment.api.ts';
import { ConfirmSandboxPayment } from './sandbox/confirm-sandbox-payment.ts';
import { SandboxController } from './sandbox/sandbox.controller.ts';
import { SandboxIntents } from './sandbox/sandbox-intents.ts';
import { SandboxPayments } from './sandbox/sandbox-payments.ts';

/** The outbox destinations that the payment context provides to the relay. */
export class PaymentDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

function openProvider(
  config: MonolithConfig,
  transactions: TransactionManager,
  intents: SandboxIntents,
  clock: Clock,
): PaymentProvider {
  if (config.PAYMENT_PROVIDER === 'stripe') {
    if (!config.STRIPE_SECRET_KEY) throw new Error('STRIPE_SECRET_KEY is missing; loadConfig should have checked it');
    const client = new StripeClient({ base: config.STRIPE_API_BASE, secretKey: config.STRIPE_SECRET_KEY });
    return new StripePayments(client, config.STRIPE_WEBHOOK_SECRET, clock);
  }
  const { publicUrl } = publicUrls(config);
  return new SandboxPayments(transactions, intents, clock, { publicUrl, webhookSecret: config.STRIPE_WEBHOOK_SECRET });
}

function openDestinations(config: MonolithConfig, provider: PaymentProvider, clock: Clock): PaymentDestinations {
  const commands = new PaymentsDestination(provider);
  if (config.PAYMENT_PROVIDER !== 'sandbox') return new PaymentDestinations([commands]);
  const { monolithInternalUrl } = publicUrls(config);
  const webhooks = new SandboxWebhooks(clock, { shopUrl: monolithInternalUrl, webhookSecret: config.STRIPE_WEBHOOK_SECRET });
  return new PaymentDestinations([commands, webhooks]);
}

/** The payment provider: Stripe, or our own sandbox in its place. */
@Module({
  controllers: [SandboxController],
  providers: [
    SandboxIntents,
    useCase(ConfirmSandboxPayment, TransactionManager, SandboxIntents, Outbox, Ids, Clock),
    { provide: PaymentProvider, useFactory: openProvider, inject: [CONFIG, TransactionManager, SandboxIntents, Clock] },
    { provide: PaymentApi, useExisting: PaymentProvider },
    { provide: PaymentDestinations, useFactory: openDestinations, inject: [CONFIG, PaymentProvider, Clock] },
  ],
  exports: [PaymentApi, PaymentDestinations],
})
export class PaymentModule {}
