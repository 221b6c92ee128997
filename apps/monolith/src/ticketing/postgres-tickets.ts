import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { TicketStatus } from '#contracts/tickets';
import type { OrderTicket, TicketHolder, TicketToIssue } from './ticketing.api.ts';
import {
  ADD_TICKETS,
  FIND_TICKET,
  LOCK_TICKET,
  LOCK_TICKETS_OF_ORDER,
  SET_TICKET_STATUS,
  TICKET_HOLDERS,
  TICKETS_OF_FAN,
  TICKETS_OF_ORDERS,
} from './tickets.sql.ts';

/** A seat that a fan has bought, with the name of its holder. A transfer makes a new ticket, whose serial is one higher. */
export interface Ticket extends TicketToIssue {
  readonly id: string;
  readonly orderId: string;
  readonly matchId: string;
  readonly userId: string;
  readonly status: TicketStatus;
  readonly serial: number;
}

/** What a gate needs to know of a ticket. The ticket's owner is not part of it. */
export type ScannedTicket = Pick<Ticket, 'id' | 'matchId' | 'status' | 'serial'>;

/** The stored tickets of all fans, in the table `tickets`. */
export class PostgresTickets {
  constructor(private readonly dataSource: DataSource) {}

  async add(tx: Transaction, tickets: readonly Ticket[]): Promise<void> {
    if (tickets.length === 0) return;
    await inside(tx).write(ADD_TICKETS.with({ tickets: JSON.stringify(tickets) }));
  }

  /**
   * Returns a ticket of this fan, locked until the transaction ends. Undefined if the ticket does not exist or is another fan's.
   */
  async lock(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await inside(tx).rows<Ticket>(LOCK_TICKET.with({ ticketId, userId }));
    return ticket;
  }

  /** Returns the ticket that a gate has scanned, locked until the transaction ends. */
  async lockScanned(tx: Transaction, ticketId: string): Promise<ScannedTicket | undefined> {
    const [ticket] = await inside(tx).rows<ScannedTicket>(
      `select id, match_id as "matchId", status, serial from tickets where id = $1 for no key update`,
      [ticketId],
    );
    return ticket;
  }

  /** Marks a valid ticket as used. */
  async use(tx: Transaction, ticketId: string): Promise<void> {
    await inside(tx).rows(`update tickets set status = 'used' where id = $1 and status = 'valid'`, [ticketId]);
  }

  /** Returns all tickets of an order, sorted by id and locked until the transaction ends. */
  async lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]> {
    return inside(tx).rows<OrderTicket>(LOCK_TICKETS_OF_ORDER.with({ orderId }));
  }

  async setStatus(tx: Transaction, ticketIds: readonly string[], status: TicketStatus): Promise<void> {
    await inside(tx).rows(SET_TICKET_STATUS.with({ ticketIds, status }));
  }

  holders(matchId: string, { after, limit }: { after: string | null; limit: number }): Promise<readonly TicketHolder[]> {
    return runUnprepared(this.dataSource, TICKET_HOLDERS.with({ matchId, after, limit }));
  }

  async ofOrders(orderIds: readonly string[]): Promise<readonly { orderId: string; id: string; status: TicketStatus }[]> {
    return runUnprepared(this.dataSource, TICKETS_OF_ORDERS.with({ orderIds }));
  }

  /** One page of the fan's tickets, newest first. `after` is the id of the last ticket of the page before. */
  async ofFan(userId: string, { limit, after }: { limit: number; after: string | undefined }): Promise<readonly Ticket[]> {
    return runUnprepared(this.dataSource, TICKETS_OF_FAN.with({ userId, after: after ?? null, limit }));
  }

  /** Returns a ticket of this fan. Undefined if the ticket does not exist or is another fan's. */
  async find(ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await runUnprepared<Ticket[]>(this.dataSource, FIND_TICKET.with({ ticketId, userId }));
    return ticket;
  }
}
