import type { Transaction } from '#application/transaction-manager';

/** A ticket as its owner sees it. Only a `valid` ticket can be transferred. */
export interface TransferableTicket {
  readonly id: string;
  readonly orderId: string;
  readonly matchId: string;
  readonly seat: {
    readonly seatId: string;
    readonly sector: string;
    readonly row: string | null;
    readonly number: number | null;
  };
  readonly holderName: string;
  readonly status: 'valid' | 'used' | 'transferred' | 'refunded';
  readonly code: string;
}

/** The tickets, which the ticketing context owns. */
export abstract class Tickets {
  /**
   * Returns a ticket of this fan, locked until the transaction ends. Undefined if the ticket does not exist or is another fan's.
   */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<TransferableTicket | undefined>;
  /** Makes this ticket and its code invalid and issues a new ticket to the receiver. */
  abstract handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void>;
}

/** The fans who may not receive tickets. */
export abstract class Blacklist {
  abstract has(tx: Transaction, userId: string): Promise<boolean>;
}

/** How many tickets fans may have for a match, and how many they have. */
export abstract class FanLimits {
  /** How many tickets a fan may have for the match. */
  abstract ofMatch(tx: Transaction, matchId: string): Promise<number>;
  /**
   * The ticket no longer counts towards the limit of the fan `from`, but towards that of the fan `to`. Returns how many seats
   * counted towards the limit of `to` before.
   */
  abstract handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number>;
}
