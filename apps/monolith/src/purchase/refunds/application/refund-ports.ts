import type { Transaction } from '#application/transaction-manager';
import type { Money } from '#domain/shared/money';
import type { Order } from '../../application/sale-ports.ts';

/**
 * A ticket of an order. After a transfer the order has two tickets for the seat: the old one (`transferred`) and the receiver's.
 */
export interface SoldTicket {
  readonly id: string;
  /** The owner of the ticket. It counts against the limit of this fan, and of all who had it before. */
  readonly userId: string;
  readonly seatId: string;
  readonly status: 'valid' | 'used' | 'transferred' | 'refunded';
}

/** The part of a paid order that is refunded: its tickets and their price. */
export interface Refund {
  readonly tickets: readonly SoldTicket[];
  readonly amount: Money;
  /** Idempotency key for the provider: it pays back only once for the same key. */
  readonly key: string;
  /**
   * The fans for whom a ticket counts: all who ever had it, one entry for each ticket and fan. Empty for tickets of a quota, which
   * count for nobody.
   */
  readonly countedFor: readonly string[];
  /** True if the match was cancelled: all ticket holders were informed already, so receivers of transferred tickets get no mail. */
  readonly isAnnounced: boolean;
}

/** Storage of refunds: paid orders and their seats. */
export abstract class Refunds {
  /** The reservation of the order. Callers lock it before they lock the order. */
  abstract reservationOf(tx: Transaction, orderId: string): Promise<string | undefined>;
  /**
   * Puts the refunded seats on sale (a place of a quota is free in its quota) and subtracts them from the fans' seat counts. Fails if a seat is not sold to this order's
   * reservation.
   */
  abstract giveBack(tx: Transaction, order: Order, refund: Refund): Promise<void>;
  abstract timeline(tx: Transaction, orderId: string): Promise<readonly { at: string; event: string }[]>;
  /** Ids of the completed orders of a match, sorted by id, at most `limit` after the order `after`. */
  abstract completedOrderIds(matchId: string, page: { after: string | null; limit: number }): Promise<readonly string[]>;
  /** True if an order of this match awaits payment, or a seat is held and may still be ordered. */
  abstract hasPayableOrders(matchId: string): Promise<boolean>;
}

/** Writes the effects of a refund in its transaction: invalid tickets, the message to the provider, mails. */
export abstract class RefundConsequences {
  /** Locks all tickets of the order, valid or not, until the transaction ends, and returns them. */
  abstract tickets(tx: Transaction, orderId: string): Promise<readonly SoldTicket[]>;
  /** Invalidates the tickets and writes the message that refunds the buyer, and the mails to the buyer and to ticket receivers. */
  abstract refunded(tx: Transaction, order: Order, refund: Refund): Promise<void>;
}
