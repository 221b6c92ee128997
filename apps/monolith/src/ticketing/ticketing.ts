import type { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import type { TicketStatus } from '#contracts/tickets';
import {
  TicketingApi,
  type OwnTicket,
  type IssuedTicket,
  type OrderTicket,
  type OrderToIssue,
  type TicketHolder,
} from './ticketing.api.ts';
import type { PostgresTickets, Ticket } from './postgres-tickets.ts';
import type { TicketCodes } from './ticket-codes.ts';

const FIRST_SERIAL = 1;

/** Issues the tickets of paid orders, and reads, transfers and refunds them. */
export class Ticketing extends TicketingApi {
  constructor(
    private readonly tickets: PostgresTickets,
    private readonly codes: TicketCodes,
    private readonly ids: Ids,
  ) {
    super();
  }

  async issue(tx: Transaction, orders: readonly OrderToIssue[]): Promise<ReadonlyMap<string, readonly IssuedTicket[]>> {
    const issued = orders.map((order) => this.ticketsOf(order));
    await this.tickets.add(tx, issued.flat());
    return new Map(orders.map(({ orderId }, index) => [orderId, (issued[index] ?? []).map((ticket) => this.withCode(ticket))]));
  }

  private ticketsOf({ seats, ...common }: OrderToIssue): Ticket[] {
    // The ids are sorted: a list of tickets sorted by id then has the same sequence as the seats of the order.
    const ids = seats.map(() => this.ids.next()).sort();
    return seats.map((seat, index) => ({
      ...common,
      ...seat,
      id: ids[index] ?? this.ids.next(),
      status: 'valid',
      serial: FIRST_SERIAL,
    }));
  }

  private withCode(ticket: Ticket): IssuedTicket {
    const { id, seatId, sector, row, number, holderName, status } = ticket;
    return { id, seatId, sector, row, number, holderName, status, code: this.codes.write(ticket) };
  }

  async lock(tx: Transaction, ticketId: string, userId: string): Promise<OwnTicket | undefined> {
    const ticket = await this.tickets.lock(tx, ticketId, userId);
    if (!ticket) return undefined;
    const { id, orderId, matchId, seatId, sector, row, number, holderName, status } = ticket;
    return { id, orderId, matchId, seat: { seatId, sector, row, number }, holderName, status, code: this.codes.write(ticket) };
  }

  /**
   * Transfers a ticket. The receiver gets a new ticket, so that the giver still sees the old one and sees nothing of the new one.
   */
  async handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void> {
    const ticket = await this.tickets.lock(tx, ticketId, to.from);
    if (!ticket) throw new Error(`ticket ${ticketId} is not ${to.from}'s`);
    await this.tickets.setStatus(tx, [ticketId], 'transferred');
    const { userId, holderName } = to;
    await this.tickets.add(tx, [
      { ...ticket, id: this.ids.next(), userId, holderName, status: 'valid', serial: ticket.serial + 1 },
    ]);
  }

  lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]> {
    return this.tickets.lockOfOrder(tx, orderId);
  }

  refund(tx: Transaction, ticketIds: readonly string[]): Promise<void> {
    return this.tickets.setStatus(tx, ticketIds, 'refunded');
  }

  holders(matchId: string, page: { after: string | null; limit: number }): Promise<readonly TicketHolder[]> {
    return this.tickets.holders(matchId, page);
  }

  async ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly { id: string; status: TicketStatus }[]>> {
    const byOrder = new Map<string, { id: string; status: TicketStatus }[]>(orderIds.map((orderId) => [orderId, []]));
    for (const { orderId, id, status } of await this.tickets.ofOrders([...byOrder.keys()]))
      byOrder.get(orderId)?.push({ id, status });
    return byOrder;
  }
}
