import type { Transaction } from '#application/transaction-manager';
import type { SandboxIntentStatus } from '../domain/sandbox-intent.ts';
import { PaymentApi } from '../payment.api.ts';

/** The provider as our own commands need it: what other contexts may ask, and what they only may through the outbox. */
export abstract class PaymentProvider extends PaymentApi {
  /** Gives money back once for each key, however often it is asked. */
  abstract refund(refund: { intentId: string; amountCents: number; key: string }): Promise<void>;
  /** So that nobody pays any more; an intent that was paid or canceled before is left as it is. */
  abstract cancel(intentId: string): Promise<void>;
}

/** Outbox destination of the events the sandbox tells the shop. */
export const SANDBOX_WEBHOOK_DESTINATION = 'sandbox-webhook';

export interface SandboxIntent {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: SandboxIntentStatus;
  readonly clientSecret: string;
}

/** The sandbox's own books. */
export abstract class SandboxIntents {
  /** The intent of this order: the one there is, or else this new one. */
  abstract addOnce(tx: Transaction, intent: Omit<SandboxIntent, 'status'>): Promise<SandboxIntent>;
  /** The same for many orders, each another; without those that have an intent already. */
  abstract addNew(
    tx: Transaction,
    intents: readonly Omit<SandboxIntent, 'status'>[],
  ): Promise<ReadonlyMap<string, SandboxIntent>>;
  /** Locked until the transaction ends. */
  abstract lock(tx: Transaction, intentId: string): Promise<SandboxIntent | undefined>;
  /** Locked, as many as nobody else has locked: waits for nobody. */
  abstract lockFree(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, SandboxIntent>>;
  abstract setStatus(tx: Transaction, intentIds: readonly string[], status: SandboxIntentStatus): Promise<void>;
  abstract refunds(tx: Transaction, intentId: string): Promise<readonly { key: string; amountCents: number }[]>;
  abstract addRefund(tx: Transaction, refund: { key: string; intentId: string; amountCents: number }): Promise<void>;
}
