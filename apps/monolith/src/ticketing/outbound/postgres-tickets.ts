import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Tickets, type Ticket } from '../application/ports.ts';
import type { OrderTicket, TicketHolder, TicketStatus } from '../ticketing.api.ts';
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

/** Tickets in the table `tickets`. */
export class PostgresTickets extends Tickets {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async add(tx: Transaction, tickets: readonly Ticket[]): Promise<void> {
    if (tickets.length === 0) return;
    await inside(tx).write(ADD_TICKETS.with({ tickets: JSON.stringify(tickets) }));
  }

  async lock(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await inside(tx).rows<Ticket>(LOCK_TICKET.with({ ticketId, userId }));
    return ticket;
  }

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

  async ofFan(userId: string, { limit, after }: { limit: number; after: string | undefined }): Promise<readonly Ticket[]> {
    return runUnprepared(this.dataSource, TICKETS_OF_FAN.with({ userId, after: after ?? null, limit }));
  }

  async find(ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await runUnprepared<Ticket[]>(this.dataSource, FIND_TICKET.with({ ticketId, userId }));
    return ticket;
  }
}
