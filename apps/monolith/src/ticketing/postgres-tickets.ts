import { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { BatchedReads } from '#platform/postgres/batched-reads';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { TicketStatus } from '#contracts/tickets';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TicketCodes } from './ticket-codes.ts';
import { WITHDRAW_OFFERS_OF_TICKETS } from './ticket-offers.sql.ts';
import * as api from './ticketing.api.ts';
import * as sql from './tickets.sql.ts';

/** A seat that a fan has bought, with the name of its holder. A transfer makes a new ticket, whose serial is one higher. */
export interface Ticket extends Omit<api.OwnTicket, 'code'> {
  readonly userId: string;
  readonly serial: number;
}

/** What a gate needs to know of a ticket. The ticket's owner is not part of it. */
export type ScannedTicket = Pick<Ticket, 'id' | 'matchId' | 'status' | 'serial'>;

const FIRST_SERIAL = 1;

/** The stored tickets of all fans, in the table `tickets`: issues, reads, transfers and refunds them. */
@Injectable()
export class PostgresTickets extends api.TicketingApi {
  private readonly ticketsOfOrders: BatchedReads<api.TicketOfOrder & { readonly orderId: string }>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly codes: TicketCodes,
    private readonly ids: Ids,
  ) {
    super();
    this.ticketsOfOrders = new BatchedReads(dataSource, {
      statement: (orderIds) => sql.TICKETS_OF_ORDERS.with({ orderIds }),
      keyOf: ({ orderId }) => orderId,
    });
  }

  async issue(tx: Transaction, orders: readonly api.OrderToIssue[]): Promise<ReadonlyMap<string, readonly api.IssuedTicket[]>> {
    const issued = orders.map((order) => this.ticketsOf(order));
    await this.add(tx, issued.flat());
    return new Map(orders.map(({ orderId }, index) => [orderId, (issued[index] ?? []).map((ticket) => this.asIssued(ticket))]));
  }

  async lock(tx: Transaction, ticketId: string, userId: string): Promise<api.OwnTicket | undefined> {
    const ticket = await this.lockOwn(tx, ticketId, userId);
    return ticket && this.withCode(ticket);
  }

  /**
   * Transfers a ticket. The receiver gets a new ticket, so that the giver still sees the old one and sees nothing of the new one.
   */
  async handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<string> {
    const { from, ...receiver } = to;
    const ticket = await this.lockOwn(tx, ticketId, from);
    if (!ticket) throw new Error(`ticket ${ticketId} is not ${from}'s`);
    await this.setStatus(tx, [ticketId], 'transferred');
    const id = this.ids.next();
    await this.add(tx, [{ ...ticket, ...receiver, id, status: 'valid', serial: ticket.serial + 1 }]);
    return id;
  }

  async everHad(tx: Transaction, ticket: { userId: string; orderId: string; seatId: string }): Promise<boolean> {
    return (await inside(tx).rows(sql.TICKET_EVER_HAD.with(ticket))).length > 0;
  }

  async isHolder(tx: Transaction, userId: string): Promise<boolean> {
    return (await inside(tx).rows(sql.ANY_TICKET_OF_FAN.with({ userId }))).length > 0;
  }

  async lockOfOrder(tx: Transaction, orderId: string): Promise<readonly api.OrderTicket[]> {
    return inside(tx).rows<api.OrderTicket>(sql.LOCK_TICKETS_OF_ORDER.with({ orderId }));
  }

  async refund(tx: Transaction, ticketIds: readonly string[]): Promise<void> {
    await this.setStatus(tx, ticketIds, 'refunded');
    await inside(tx).rows(WITHDRAW_OFFERS_OF_TICKETS.with({ ticketIds }));
  }

  holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly api.TicketHolder[]> {
    return runUnprepared(this.dataSource, sql.TICKET_HOLDERS.with({ matchId, ...page }));
  }

  async ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly api.TicketOfOrder[]>> {
    const byOrder = new Map<string, api.TicketOfOrder[]>(orderIds.map((orderId) => [orderId, []]));
    for (const { orderId, id, status } of await this.ticketsOfOrders.rows(...byOrder.keys()))
      byOrder.get(orderId)?.push({ id, status });
    return byOrder;
  }

  async withPart(matchId: string, part: api.PartOfTicket): Promise<readonly string[]> {
    return this.orderIds(sql.ORDERS_WITH_PART.with({ matchId, ...part }));
  }

  async newestWithPart(limit: number, part: api.PartOfTicket): Promise<readonly string[]> {
    return this.orderIds(sql.NEWEST_WITH_PART.with({ limit, ...part }));
  }

  async ordersOfTicketIds(range: { from: string; to: string; limit: number }): Promise<readonly string[]> {
    return this.orderIds(sql.ORDERS_OF_TICKET_IDS.with(range));
  }

  async namedOfOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly api.NamedTicket[]>> {
    const statement = sql.NAMED_TICKETS_OF_ORDERS.with({ orderIds });
    return Map.groupBy(await runUnprepared<api.NamedTicket[]>(this.dataSource, statement), ({ orderId }) => orderId);
  }

  /** Returns the ticket that a gate has scanned, locked until the transaction ends. */
  async lockScanned(tx: Transaction, ticketId: string): Promise<ScannedTicket | undefined> {
    const [ticket] = await inside(tx).rows<ScannedTicket>(
      `select id, match_id as "matchId", status, serial from tickets where id = $1 for no key update`,
      [ticketId],
    );
    return ticket;
  }

  /** Marks a valid ticket as used. Its offer to another fan ends. */
  async use(tx: Transaction, ticketId: string): Promise<void> {
    await inside(tx).rows(`update tickets set status = 'used' where id = $1 and status = 'valid'`, [ticketId]);
    await inside(tx).rows(WITHDRAW_OFFERS_OF_TICKETS.with({ ticketIds: [ticketId] }));
  }

  /** One page of the fan's tickets, newest first. `after` is the id of the last ticket of the page before. */
  async ofFan(userId: string, { limit, after = null }: { limit: number; after?: string | null }): Promise<api.OwnTicket[]> {
    const tickets = await runUnprepared<Ticket[]>(this.dataSource, sql.TICKETS_OF_FAN.with({ userId, after, limit }));
    return tickets.map((ticket) => this.withCode(ticket));
  }

  /** Returns a ticket of this fan. Undefined if the ticket does not exist or is another fan's. */
  async find(ticketId: string, userId: string): Promise<api.OwnTicket | undefined> {
    const [ticket] = await runUnprepared<Ticket[]>(this.dataSource, sql.FIND_TICKET.with({ ticketId, userId }));
    return ticket && this.withCode(ticket);
  }

  private async orderIds(statement: Parameters<typeof runUnprepared>[1]): Promise<readonly string[]> {
    return (await runUnprepared<{ orderId: string }[]>(this.dataSource, statement)).map(({ orderId }) => orderId);
  }

  private ticketsOf({ seats, ...common }: api.OrderToIssue): Ticket[] {
    // The ids are sorted: a list of tickets sorted by id then has the same sequence as the seats of the order.
    const ids = seats.map(() => this.ids.next()).sort();
    return seats.map((seat, index) => ({ ...common, ...seat, id: ids[index]!, status: 'valid', serial: FIRST_SERIAL }));
  }

  private asIssued(ticket: Ticket): api.IssuedTicket {
    const { id, seatId, sector, row, number, holderName, status } = ticket;
    return { id, seatId, sector, row, number, holderName, status, code: this.codes.write(ticket) };
  }

  private withCode(ticket: Ticket): api.OwnTicket {
    return { ...ticket, code: this.codes.write(ticket) };
  }

  private async add(tx: Transaction, tickets: readonly Ticket[]): Promise<void> {
    if (tickets.length > 0) await inside(tx).write(sql.ADD_TICKETS.with({ tickets: JSON.stringify(tickets) }));
  }

  private async lockOwn(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await inside(tx).rows<Ticket>(sql.LOCK_TICKET.with({ ticketId, userId }));
    return ticket;
  }

  private async setStatus(tx: Transaction, ticketIds: readonly string[], status: TicketStatus): Promise<void> {
    await inside(tx).rows(sql.SET_TICKET_STATUS.with({ ticketIds, status }));
  }
}
