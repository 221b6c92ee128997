import type { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { TicketingApi, type IssuedTicket, type TicketStatus, type TicketToIssue } from '../ticketing.api.ts';
import type { Ticket, Tickets } from './ports.ts';
import type { TicketCodes } from './ticket-codes.ts';

const FIRST_SERIAL = 1;

/** Issues the tickets of a paid order, and tells what became of them. */
export class Ticketing extends TicketingApi {
  constructor(
    private readonly tickets: Tickets,
    private readonly codes: TicketCodes,
    private readonly ids: Ids,
  ) {
    super();
  }

  async issue(
    tx: Transaction,
    order: { orderId: string; matchId: string; userId: string; seats: readonly TicketToIssue[] },
  ): Promise<readonly IssuedTicket[]> {
    const { seats, ...common } = order;
    // Sorted, so that an order's tickets read in the order of its seats wherever they are listed by id.
    const ids = seats.map(() => this.ids.next()).sort();
    const tickets = seats.map((seat, index): Ticket => ({
      ...common,
      ...seat,
      id: ids[index] ?? this.ids.next(),
      status: 'valid',
      serial: FIRST_SERIAL,
    }));
    await this.tickets.add(tx, tickets);
    return tickets.map((ticket) => ({
      id: ticket.id,
      seatId: ticket.seatId,
      sector: ticket.sector,
      row: ticket.row,
      number: ticket.number,
      holderName: ticket.holderName,
      status: ticket.status,
      code: this.codes.write(ticket),
    }));
  }

  async ofOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, readonly { id: string; status: TicketStatus }[]>> {
    const byOrder = new Map<string, { id: string; status: TicketStatus }[]>(orderIds.map((orderId) => [orderId, []]));
    for (const { orderId, id, status } of await this.tickets.ofOrders([...byOrder.keys()]))
      byOrder.get(orderId)?.push({ id, status });
    return byOrder;
  }
}
