import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { StreamCursors } from '../application/waiting-room-ports.ts';
import { ADVANCE_CURSOR } from './purchase-windows.sql.ts';

/** A Redis stream id that is lower than the id of any event. */
const STREAM_START = '0-0';

/** How far the waiting room's events of each match have been processed, in the table `queue_event_cursors`. */
export class PostgresStreamCursors implements StreamCursors {
  constructor(private readonly dataSource: DataSource) {}

  async position(matchId: string): Promise<string> {
    const rows = (await this.dataSource.query(`select last_id from queue_event_cursors where match_id = $1`, [matchId])) as {
      last_id: string;
    }[];
    return rows[0]?.last_id ?? STREAM_START;
  }

  async advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean> {
    const rows = await inside(tx).rows(ADVANCE_CURSOR.with({ matchId, from, to }));
    return rows.length > 0;
  }
}
