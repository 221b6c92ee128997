import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { ScannedTickets, type ScannedTicket } from '../application/ports.ts';

export class PostgresScannedTickets extends ScannedTickets {
  async lock(tx: Transaction, ticketId: string): Promise<ScannedTicket | undefined> {
    const [ticket] = await inside(tx).rows<ScannedTicket>(
      `select id, match_id as "matchId", status, serial from tickets where id = $1 for no key update`,
      [ticketId],
    );
    return ticket;
  }

  async use(tx: Transaction, ticketId: string): Promise<void> {
    await inside(tx).rows(`update tickets set status = 'used' where id = $1 and status = 'valid'`, [ticketId]);
  }
}
