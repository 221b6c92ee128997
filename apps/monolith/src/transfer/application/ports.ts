import type { Transaction } from '#application/transaction-manager';

export interface GivenTicket {
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

export abstract class Tickets {
  /** Locked until the transaction ends; undefined when there is none or it is another fan's. */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<GivenTicket | undefined>;
  /** This one and its code die; the receiver has another one. */
  abstract handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void>;
}

/** Fans who may not have tickets. */
export abstract class Blacklist {
  abstract has(tx: Transaction, userId: string): Promise<boolean>;
}

export abstract class FanLimits {
  abstract ofMatch(tx: Transaction, matchId: string): Promise<number>;
  /** The ticket counts for `to` and no longer for `from`; how many `to` had before. */
  abstract handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number>;
}
