import type { Transaction } from '#application/transaction-manager';

export type TicketStatus = 'valid' | 'used' | 'transferred' | 'refunded';

export interface TicketToIssue {
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly holderName: string;
}

export interface IssuedTicket extends TicketToIssue {
  readonly id: string;
  readonly status: TicketStatus;
  /** Signed text of the QR code. */
  readonly code: string;
}

export interface OrderToIssue {
  readonly orderId: string;
  readonly matchId: string;
  readonly userId: string;
  readonly seats: readonly TicketToIssue[];
}

export interface TicketHolder {
  readonly userId: string;
  readonly seats: readonly { readonly sector: string; readonly row: string | null; readonly number: number | null }[];
}

export interface HeldTicket {
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
  readonly status: TicketStatus;
  readonly code: string;
}

/** A ticket of an order, whoever has it; one that changed hands is followed by another for the same seat. */
export interface OrderTicket {
  readonly id: string;
  readonly userId: string;
  readonly seatId: string;
  readonly status: TicketStatus;
}

/** Tickets, for the context that sells them. */
export abstract class TicketingApi {
  /** In the transaction that completes the orders, so that a paid order has its tickets, or is not paid. By order. */
  abstract issue(tx: Transaction, orders: readonly OrderToIssue[]): Promise<ReadonlyMap<string, readonly IssuedTicket[]>>;
  /** Locked until the transaction ends; undefined when there is none or it is another fan's. */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<HeldTicket | undefined>;
  /** The place changes hands: this ticket dies with its code, the receiver has another one from now on. */
  abstract handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void>;
  /** Who can enter this match, by id, and where they sit; `after` is the last one already seen. */
  abstract holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly TicketHolder[]>;
  /** All of an order, living and dead, by id; locked until the transaction ends. */
  abstract lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]>;
  /** They and their codes die, whoever has them. */
  abstract refund(tx: Transaction, ticketIds: readonly string[]): Promise<void>;
  abstract ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly { id: string; status: TicketStatus }[]>>;
}
