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

/** Tickets, for the context that sells them. */
export abstract class TicketingApi {
  /** In the transaction that completes the orders, so that a paid order has its tickets, or is not paid. By order. */
  abstract issue(tx: Transaction, orders: readonly OrderToIssue[]): Promise<ReadonlyMap<string, readonly IssuedTicket[]>>;
  abstract ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly { id: string; status: TicketStatus }[]>>;
}
