import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Tickets, type Ticket } from '../application/ports.ts';
import type { OrderTicket, TicketHolder, TicketStatus } from '../ticketing.api.ts';

const COLUMNS = `id, order_id as "orderId", match_id as "matchId", user_id as "userId", seat_id as "seatId", sector,
  row_label as "row", number, holder_name as "holderName", status, serial`;

export class PostgresTickets extends Tickets {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async add(tx: Transaction, tickets: readonly Ticket[]): Promise<void> {
    if (tickets.length === 0) return;
    await inside(tx).write(
      `insert into tickets (id, order_id, match_id, user_id, seat_id, sector, row_label, number, holder_name, status, serial)
       select id, "orderId", "matchId", "userId", "seatId", sector, "row", number, "holderName", status, serial
       from jsonb_to_recordset($1::jsonb) as t(id uuid, "orderId" uuid, "matchId" uuid, "userId" uuid, "seatId" uuid,
         sector text, "row" text, number integer, "holderName" text, status text, serial integer)`,
      [JSON.stringify(tickets)],
    );
  }

  async lock(tx: Transaction, ticketId: string, userId: string): Promise<Ticket | undefined> {
    const [ticket] = await inside(tx).rows<Ticket>(
      `select ${COLUMNS} from tickets where id = $1 and user_id = $2 for no key update`,
      [ticketId, userId],
    );
    return ticket;
  }

  async lockOfOrder(tx: Transaction, orderId: string): Promise<readonly OrderTicket[]> {
    return inside(tx).rows<OrderTicket>(
      `select id, user_id as "userId", seat_id as "seatId", status from tickets where order_id = $1 order by id for no key update`,
      [orderId],
    );
  }

  async setStatus(tx: Transaction, ticketIds: readonly string[], status: TicketStatus): Promise<void> {
    await inside(tx).rows('update tickets set status = $2 where id = any($1::uuid[])', [ticketIds, status]);
  }

  holders(matchId: string, { after, limit }: { after: string | null; limit: number }): Promise<readonly TicketHolder[]> {
    return this.dataSource.query(
      `select user_id as "userId", jsonb_agg(jsonb_build_object('sector', sector, 'row', row_label, 'number', number) order by id) as seats
       from tickets where match_id = $1 and status in ('valid', 'used') and ($2::uuid is null or user_id > $2)
       group by user_id order by user_id limit $3`,
      [matchId, after, limit],
    );
  }

  async ofOrders(orderIds: readonly string[]): Promise<readonly { orderId: string; id: string; status: TicketStatus }[]> {
    return this.dataSource.query(
      `select order_id as "orderId", id, status from tickets where order_id = any($1::uuid[]) order by order_id, id`,
      [orderIds],
    );
  }

  async ofFan(userId: string, { limit, after }: { limit: number; after: string | undefined }): Promise<readonly Ticket[]> {
    return this.dataSource.query(
      `select ${COLUMNS} from tickets where user_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
      [userId, after ?? null, limit],
    );
  }

  async find(ticketId: string, userId: string): Promise<Ticket | undefined> {
    const rows = await this.dataSource.query<Ticket[]>(`select ${COLUMNS} from tickets where id = $1 and user_id = $2`, [
      ticketId,
      userId,
    ]);
    return rows[0];
  }
}
