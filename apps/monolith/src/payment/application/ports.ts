import type { Transaction } from '#application/transaction-manager';
import type { SandboxIntentStatus } from '../domain/sandbox-intent.ts';
import { PaymentApi } from '../payment.api.ts';

/** The payment provider. Other contexts call `PaymentApi` directly; they request refunds and cancellations through the outbox. */
export abstract class PaymentProvider extends PaymentApi {
  /** Refunds the amount once for each key, however often it is called with that key. */
  abstract refund(refund: { intentId: string; amountCents: number; key: string }): Promise<void>;
  /** Cancels an intent, so that it can no longer be paid. Does nothing if it was paid or canceled before. */
  abstract cancel(intentId: string): Promise<void>;
}

/** Outbox destination for the events that the sandbox sends to the shop. */
export const SANDBOX_WEBHOOK_DESTINATION = 'sandbox-webhook';

/** A payment intent of the sandbox: the one payment that a fan makes for an order. */
export interface SandboxIntent {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: SandboxIntentStatus;
  readonly clientSecret: string;
}

/** The intents and refunds of the sandbox, which a real provider would store itself. */
export abstract class SandboxIntents {
  /** Adds the intent, unless the order has one. Returns the intent of the order. */
  abstract addOnce(tx: Transaction, intent: Omit<SandboxIntent, 'status'>): Promise<SandboxIntent>;
  /** Adds the intents of many different orders at once. The result lacks orders that had an intent already. */
  abstract addNew(
    tx: Transaction,
    intents: readonly Omit<SandboxIntent, 'status'>[],
  ): Promise<ReadonlyMap<string, SandboxIntent>>;
  /** Returns the intent, locked until the transaction ends. */
  abstract lock(tx: Transaction, intentId: string): Promise<SandboxIntent | undefined>;
  /** Locks and returns the intents that no other transaction has locked. Does not wait for the locked ones. */
  abstract lockAvailable(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, SandboxIntent>>;
  abstract setStatus(tx: Transaction, intentIds: readonly string[], status: SandboxIntentStatus): Promise<void>;
  abstract refunds(tx: Transaction, intentId: string): Promise<readonly { key: string; amountCents: number }[]>;
  abstract addRefund(tx: Transaction, refund: { key: string; intentId: string; amountCents: number }): Promise<void>;
}
