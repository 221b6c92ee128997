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

/** Tickets, for the context that sells them. */
export abstract class TicketingApi {
  /** In the transaction that completes the order, so that a paid order has its tickets, or is not paid. */
  abstract issue(
    tx: Transaction,
    order: { orderId: string; matchId: string; userId: string; seats: readonly TicketToIssue[] },
  ): Promise<readonly IssuedTicket[]>;
  abstract ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly { id: string; status: TicketStatus }[]>>;
}
