import type { Transaction } from '#application/transaction-manager';
import type { OrderTicket, TicketHolder, TicketStatus } from '../ticketing.api.ts';

/** A seat that a fan has bought, with the name of its holder. A transfer makes a new ticket, whose serial is one higher. */
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

/** The stored tickets of all fans. */
export abstract class Tickets {
  abstract add(tx: Transaction, tickets: readonly Ticket[]): Promise<void>;
  /**
   * Returns a ticket of this fan, locked until the transaction ends. Undefined if the ticket does not exist or is another fan's.
   */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined>;
  /** Returns all tickets of an order, sorted by id and locked until the transaction ends. */
  abstract lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]>;
  abstract setStatus(tx: Transaction, ticketIds: readonly string[], status: TicketStatus): Promise<void>;
  abstract holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly TicketHolder[]>;
  abstract ofOrders(orderIds: readonly string[]): Promise<readonly { orderId: string; id: string; status: TicketStatus }[]>;
  /** One page of the fan's tickets, newest first. `after` is the id of the last ticket of the page before. */
  abstract ofFan(userId: string, page: { limit: number; after: string | undefined }): Promise<readonly Ticket[]>;
  /** Returns a ticket of this fan. Undefined if the ticket does not exist or is another fan's. */
  abstract find(ticketId: string, userId: string): Promise<Ticket | undefined>;
}

/** What a gate needs to know of a ticket. The ticket's owner is not part of it. */
export interface ScannedTicket {
  readonly id: string;
  readonly matchId: string;
  readonly status: TicketStatus;
  readonly serial: number;
}

/** Finds tickets that a gate has scanned, and marks them as used. */
export abstract class ScannedTickets {
  /** Returns the ticket, locked until the transaction ends. */
  abstract lock(tx: Transaction, ticketId: string): Promise<ScannedTicket | undefined>;
  abstract use(tx: Transaction, ticketId: string): Promise<void>;
}

/** Signs the text of ticket codes with our private key, which only the implementation knows, and verifies signatures. */
export abstract class TicketSigner {
  /** Identifies the public key with which scanners must verify the signature. */
  abstract readonly keyId: Uint8Array;
  /** The same text always has the same signature, so codes need not be stored. */
  abstract sign(text: string): Uint8Array;
  abstract verify(text: string, signature: Uint8Array): boolean;
}

/** The facts of a match that are printed on a ticket. */
export interface PrintedMatch {
  readonly matchName: string;
  readonly kickoffAt: string;
  readonly venue: string;
  readonly gate: string | null;
}

/** The facts of matches that are printed on tickets. */
export abstract class Matches {
  abstract printed(matchId: string, sector: string): Promise<PrintedMatch>;
}
