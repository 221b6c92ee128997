import type { Transaction } from '#application/transaction-manager';
import type { Money } from '#domain/shared/money';
import type { Order } from '../../application/ports.ts';

/** A ticket of an order as it is now; one that was given to another fan is followed by that fan's. */
export interface SoldTicket {
  readonly id: string;
  /** Whose it is: for this fan it counts. */
  readonly userId: string;
  readonly seatId: string;
  readonly status: 'valid' | 'used' | 'transferred' | 'refunded';
}

/** What is given back of a paid order. */
export interface Refund {
  readonly tickets: readonly SoldTicket[];
  readonly amount: Money;
  /** Recognised by the provider: under the same key money goes back once. */
  readonly key: string;
  /** Everybody with a ticket has been told already: the match was cancelled. */
  readonly isAnnounced: boolean;
}

/** Paid orders, whose seats are given back one by one. */
export abstract class Refunds {
  /** Which reservation is locked before this order. */
  abstract reservationOf(tx: Transaction, orderId: string): Promise<string | undefined>;
  /** The seats are for sale at once and count for nobody; fails when one of them was not this reservation's. */
  abstract giveBack(tx: Transaction, order: Order, refund: Refund): Promise<void>;
  abstract timeline(tx: Transaction, orderId: string): Promise<readonly { at: string; event: string }[]>;
  /** Completed orders of a match by id, from after this one on. */
  abstract completedOf(matchId: string, page: { after: string | null; limit: number }): Promise<readonly string[]>;
  /** Can an order of this match still be completed: is one being paid, or a seat held that may be? */
  abstract mayBePaid(matchId: string): Promise<boolean>;
}

/** What a refund means to others: tickets, the way of the money, the mail. */
export abstract class RefundConsequences {
  /** Every ticket there ever was of this order, locked until the transaction ends. */
  abstract tickets(tx: Transaction, orderId: string): Promise<readonly SoldTicket[]>;
  /** These tickets die, their money goes back to whoever paid; a mail tells them, and others who had a ticket. */
  abstract refunded(tx: Transaction, order: Order, refund: Refund): Promise<void>;
}
