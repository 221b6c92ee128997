import type { Transaction } from '#application/transaction-manager';
import type { OrderStatus } from '#domain/purchase/order';
import type { Money } from '#domain/shared/money';
import type { Order, Reservation } from '../../application/ports.ts';

export abstract class Orders {
  /** Those of these fans for whom no order may be made or completed: the blacklist, as it is in this transaction. */
  abstract barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** "ORD-2026-001234": of this year, and never given again. */
  abstract nextNumbers(tx: Transaction, count: number): Promise<readonly string[]>;
  /** Adds them; their holds are ordered from now on. Nothing of those whose window another order has. Returns the ids of the others. */
  abstract place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>>;
  /** Locked until the transaction ends, like the next; its reservation is locked before it, by everybody. */
  abstract lock(tx: Transaction, orderId: string): Promise<Order | undefined>;
  abstract lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined>;
  /** Orders that await this payment, by intent; as many as nobody else has locked: waits for nobody. */
  abstract lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** Whose payment this is; the id of the order itself serves when the payment came before we heard of its intent. */
  abstract reservationPaid(tx: Transaction, by: { intentId?: string; orderId?: string }): Promise<string | undefined>;
  /** The order that has this window: it is being paid, or was. */
  abstract inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined>;
  /** For an order that had given its window up; false when another one has it by now. */
  abstract reclaimWindow(tx: Transaction, order: Order): Promise<boolean>;
  abstract giveUpWindow(tx: Transaction, order: Order): Promise<void>;
  abstract setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void>;
  /** For orders that await payment and have no intent. Waits for nobody; returns the ids of those it could. */
  abstract setFirstIntents(
    tx: Transaction,
    intents: readonly { readonly orderId: string; readonly payment: Order['payment'] }[],
  ): Promise<ReadonlySet<string>>;
  abstract setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void>;
  abstract note(tx: Transaction, orderId: string, event: string): Promise<void>;
  /** Removes an order that was never paid and never shown to its fan, with its timeline. */
  abstract remove(tx: Transaction, orderId: string): Promise<void>;
}

export abstract class Payments {
  /** Rejects with `PAYMENT_REFUSED` when the provider takes no payment for this order; anything else may be tried again. */
  abstract createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<{
    provider: string;
    intentId: string;
    clientSecret: string;
    confirmUrl?: string;
  }>;
}

export interface CompletedOrder {
  readonly order: Order;
  readonly reservation: Reservation;
}

/** What follows from an order's fate, in the transaction that decides it: tickets, the end of the turn, what is told to whom. */
export abstract class OrderConsequences {
  abstract completed(tx: Transaction, completed: readonly CompletedOrder[]): Promise<void>;
  /** All that was paid goes back, which may be another amount than was asked for. */
  abstract refunded(tx: Transaction, order: Order, paid: Money): Promise<void>;
  abstract cancelled(tx: Transaction, order: Order): Promise<void>;
}
