import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { StreamCursors } from '../application/waiting-room-ports.ts';

/** A Redis stream id that is lower than the id of any event. */
const STREAM_START = '0-0';

/** How far the waiting room's events of each match have been processed, in the table `queue_event_cursors`. */
export class PostgresStreamCursors implements StreamCursors {
  constructor(private readonly dataSource: DataSource) {}

  async position(matchId: string): Promise<string> {
    const text = `select last_id from queue_event_cursors where match_id = $1`;
    const [cursor] = await this.dataSource.query<{ last_id: string }[]>(text, [matchId]);
    return cursor?.last_id ?? STREAM_START;
  }

  /** The statement returns no row when another process has moved the cursor meanwhile. */
  async advance(tx: Transaction, matchId: string, from: string, to: string): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into queue_event_cursors (match_id, last_id) values ($1, $3)
       on conflict (match_id) do update set last_id = excluded.last_id where queue_event_cursors.last_id = $2 returning 1`,
      [matchId, from, to],
    );
    return rows.length > 0;
  }
}
