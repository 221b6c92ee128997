import type { Transaction } from '#application/transaction-manager';
import type { Ticket as TicketAnswer, TicketStatus } from '#contracts/tickets';

/** A seat and the name of its holder, for which a ticket is to be issued. */
export interface TicketToIssue {
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly holderName: string;
}

/** A ticket that was just issued. */
export interface IssuedTicket extends TicketToIssue {
  readonly id: string;
  readonly status: TicketStatus;
  /** Signed text of the QR code. */
  readonly code: string;
}

/** A paid order whose tickets are to be issued. */
export interface OrderToIssue {
  readonly orderId: string;
  readonly matchId: string;
  readonly userId: string;
  readonly seats: readonly TicketToIssue[];
}

/** A fan with valid or used tickets for a match, and the seats of these tickets. */
export interface TicketHolder {
  readonly userId: string;
  readonly seats: readonly Pick<TicketToIssue, 'sector' | 'row' | 'number'>[];
}

/** A ticket as its owner may see it, with its code. */
export interface OwnTicket extends IssuedTicket {
  readonly orderId: string;
  readonly matchId: string;
}

/** A ticket of an order. */
export type TicketOfOrder = Pick<OwnTicket, 'id' | 'status'>;

/** A ticket of an order with its seat and the name of its holder, for operators. */
export type NamedTicket = Omit<OwnTicket, 'code' | 'matchId'>;

/** A ticket of an order, of any owner. After a transfer there is a new ticket for the same seat. */
export type OrderTicket = TicketOfOrder & { readonly userId: string; readonly seatId: string };

/** What a ticket is searched by: patterns of LIKE in lower case. */
export interface PartOfTicket {
  /** For the holder's name. */
  readonly pattern: string;
  /** For the ticket's id without its hyphens. Null: the text is no part of an id. */
  readonly idPattern: string | null;
}

/** Issues, reads, transfers and refunds tickets for other contexts. */
export abstract class TicketingApi {
  /**
   * Issues tickets in the transaction that completes their orders, so that no completed order lacks tickets. Returns the issued
   * tickets by order id.
   */
  abstract issue(tx: Transaction, orders: readonly OrderToIssue[]): Promise<ReadonlyMap<string, readonly IssuedTicket[]>>;
  /**
   * Returns a ticket of this fan, locked until the transaction ends. Undefined if the ticket does not exist or is another fan's.
   */
  abstract lock(tx: Transaction, ticketId: string, userId: string): Promise<OwnTicket | undefined>;
  /** Transfers the ticket: the ticket and its code become invalid. Returns the id of the new ticket, which the receiver gets. */
  abstract handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<string>;
  /** Whether the fan ever had a ticket of this order for this seat. */
  abstract everHad(tx: Transaction, ticket: { userId: string; orderId: string; seatId: string }): Promise<boolean>;
  /** Whether the fan ever had a ticket. */
  abstract isHolder(tx: Transaction, userId: string): Promise<boolean>;
  /**
   * The fans with a valid or used ticket of this match, sorted by id, with their seats. `after` is the last id of the page
   * before.
   */
  abstract holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly TicketHolder[]>;
  /** Returns all tickets of an order with any status, sorted by id and locked until the transaction ends. */
  abstract lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]>;
  /**
   * Marks the tickets as refunded, also those that were transferred to another fan. Their codes become invalid, and their open
   * offers end.
   */
  abstract refund(tx: Transaction, ticketIds: readonly string[]): Promise<void>;
  abstract ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly TicketOfOrder[]>>;
  /** The orders of a match that have a ticket whose holder's name or id fits. */
  abstract withPart(matchId: string, part: PartOfTicket): Promise<readonly string[]>;
  /** The orders, of the newest `limit` tickets, whose holder's name or id fits. */
  abstract newestWithPart(limit: number, part: PartOfTicket): Promise<readonly string[]>;
  /** The orders of the first `limit` tickets with an id in this range. */
  abstract ordersOfTicketIds(range: { from: string; to: string; limit: number }): Promise<readonly string[]>;
  /** Like `ofOrders`, with seats and holders. Not for fans: a transferred ticket has the name of its receiver. */
  abstract namedOfOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly NamedTicket[]>>;
}

/** A ticket of the caller in the format of the API. */
export function ticketView(ticket: OwnTicket): TicketAnswer {
  const { id, orderId, matchId, seatId, sector, row, number, holderName, status, code } = ticket;
  const seat = { seat_id: seatId, sector, row, number };
  return { id, order_id: orderId, match_id: matchId, seat, holder_name: holderName, status, code };
}
