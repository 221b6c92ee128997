import type { Transaction } from '#application/transaction-manager';
import type { OrderStatus } from '#domain/purchase/order';
import type { Money } from '#domain/shared/money';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';

/** A payment intent that is stored on its order. */
export interface OrderIntent {
  readonly orderId: string;
  readonly payment: Order['payment'];
}

/** Storage of orders. An order occupies the window (turn) of its reservation until the order gives the window up. */
export abstract class Orders {
  /** Returns which of these fans are on the blacklist, read in this transaction. No order may be created or completed for them. */
  abstract barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Numbers like "ORD-2026-001234" with the current year. A number is never used twice. */
  abstract nextNumbers(tx: Transaction, count: number): Promise<readonly string[]>;
  /**
   * Adds orders and sets their holds to `ordered`. Skips an order whose window (turn) has another order already. Returns the ids
   * of the added orders.
   */
  abstract place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>>;
  /**
   * Locks an order until the transaction ends. Every caller locks the reservation first and then the order, so there are no
   * deadlocks.
   */
  abstract lock(tx: Transaction, orderId: string): Promise<Order | undefined>;
  /** Locks the order of a reservation until the transaction ends. The caller has locked the reservation. */
  abstract lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined>;
  /** Locks the orders that await these payments, keyed by intent id. Does not wait: skips orders locked by another transaction. */
  abstract lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** Id of the reservation that a payment belongs to, found by its intent, or by the order id if no intent is stored yet. */
  abstract reservationPaid(tx: Transaction, by: { intentId?: string; orderId?: string }): Promise<string | undefined>;
  /** The order that occupies this window (turn): it awaits payment or was paid. */
  abstract inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined>;
  /** Lets an order that had given up its window (turn) occupy it again. False if another order has the window now. */
  abstract reclaimWindow(tx: Transaction, order: Order): Promise<boolean>;
  /** The order no longer occupies its window (turn), so another order of this window can be placed. */
  abstract giveUpWindow(tx: Transaction, order: Order): Promise<void>;
  abstract setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void>;
  /**
   * Stores intents on orders that await payment and have no intent yet. Does not wait: skips orders locked by another transaction.
   * Returns the ids of the changed orders.
   */
  abstract setFirstIntents(tx: Transaction, intents: readonly OrderIntent[]): Promise<ReadonlySet<string>>;
  /** Sets the status of the orders and adds `events` to the timeline of each of them. */
  abstract setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void>;
  /** Adds an event to the order's timeline. */
  abstract note(tx: Transaction, orderId: string, event: string): Promise<void>;
  /** Deletes an order that was never paid and never shown to its fan, and its timeline. */
  abstract remove(tx: Transaction, orderId: string): Promise<void>;
}

/** The payment provider, as checkout uses it. */
export interface Payments {
  /**
   * Creates the payment intent of an order, or returns the existing one. Rejects with `PAYMENT_REFUSED` if the provider takes no
   * payment for this order. After any other error a retry may succeed.
   */
  createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<{
    provider: string;
    intentId: string;
    clientSecret: string;
    confirmUrl?: string;
  }>;
}

/** An order that has just been completed, with its reservation. */
export interface CompletedOrder {
  readonly order: Order;
  readonly reservation: Reservation;
}

/** Writes the effects of a decision about an order in the transaction of that decision: tickets, the end of the turn, messages. */
export abstract class OrderConsequences {
  abstract completed(tx: Transaction, completed: readonly CompletedOrder[]): Promise<void>;
  /** Refunds the whole captured amount `paid`, which may differ from the order's total. */
  abstract refunded(tx: Transaction, order: Order, paid: Money): Promise<void>;
  /** Tells the provider to cancel the order's intent, if it has one. */
  abstract cancelled(tx: Transaction, order: Order): Promise<void>;
}
