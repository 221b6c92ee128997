import type { Transaction } from '#application/transaction-manager';
import type { OrderTicket, TicketHolder, TicketStatus } from '../ticketing.api.ts';

export interface Ticket {
  readonly id: string;
  readonly orderId: string;
  readonly matchId: string;
  readonly userId: string;
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly holderName: string;
  readonly status: TicketStatus;
  readonly serial: number;
}

export abstract class Tickets {
  abstract add(tx: Transaction, tickets: readonly Ticket[]): Promise<void>;
  /** Only the fan's own; locked until the transaction ends. */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined>;
  /** All of an order by id; locked until the transaction ends. */
  abstract lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]>;
  abstract setStatus(tx: Transaction, ticketIds: readonly string[], status: TicketStatus): Promise<void>;
  abstract holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly TicketHolder[]>;
  abstract ofOrders(orderIds: readonly string[]): Promise<readonly { orderId: string; id: string; status: TicketStatus }[]>;
  /** Newest first; `after` is the id of the last one already seen. */
  abstract ofFan(userId: string, page: { limit: number; after: string | undefined }): Promise<readonly Ticket[]>;
  /** Only the fan's own: another's does not exist. */
  abstract find(ticketId: string, userId: string): Promise<Ticket | undefined>;
}

export interface ScannedTicket {
  readonly id: string;
  readonly matchId: string;
  readonly status: TicketStatus;
  readonly serial: number;
}

/** Tickets as a gate sees them: whose they are does not matter. */
export abstract class ScannedTickets {
  /** Locked until the transaction ends. */
  abstract lock(tx: Transaction, ticketId: string): Promise<ScannedTicket | undefined>;
  abstract use(tx: Transaction, ticketId: string): Promise<void>;
}

/** The key of the house, behind which the private half stays. */
export abstract class TicketSigner {
  /** Tells scanners which public key to check with. */
  abstract readonly keyId: Uint8Array;
  /** The same text always has the same signature, so codes need not be stored. */
  abstract sign(text: string): Uint8Array;
  abstract verify(text: string, signature: Uint8Array): boolean;
}

/** What stands on a printed ticket beside the place. */
export interface PrintedMatch {
  readonly matchName: string;
  readonly kickoffAt: string;
  readonly venue: string;
  readonly gate: string | null;
}

export abstract class Matches {
  abstract printed(matchId: string, sector: string): Promise<PrintedMatch>;
}
