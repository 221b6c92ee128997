import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { MonolithConfig } from '../../../config.ts';
import { READ_SEAT_LETTERS, type SeatLetters } from './seat-letters.sql.ts';
import { COUNT_SEATS_LEFT, type SeatsLeftCount } from './seats-left.sql.ts';

/**
 * Reads from PostgreSQL which seats are free: for viewers (`SharedSeatViews` caches these reads), and in a transaction that decides
 * whether a match is sold out (`hasSeatsLeft`).
 */
export class PostgresAvailability {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Pick<MonolithConfig, 'QUEUE_IDLE_TURN_SECONDS'>,
  ) {}

  async countSeatsLeft(matchId: string, database: Pick<DataSource, 'query'> = this.dataSource): Promise<SeatsLeftCount> {
    const { text, values } = COUNT_SEATS_LEFT.with({ matchId, idleSeconds: this.config.QUEUE_IDLE_TURN_SECONDS });
    const [count] = await database.query<SeatsLeftCount[]>(text, values);
    return count ?? { atMs: 0, nextExpiryMs: null, sectors: [], held: 0, windowsHolding: 0, windowsIdle: 0 };
  }

  async seatLetters(sectorId: string): Promise<SeatLetters> {
    const [state] = await runUnprepared<SeatLetters[]>(this.dataSource, READ_SEAT_LETTERS.with({ sectorId }));
    return state ?? { atMs: 0, nextExpiryMs: null, letters: '' };
  }

  /** Draws a number for this process that no other running process has. */
  async processNumber(): Promise<number> {
    const [row] = await this.dataSource.query<[{ number: number }]>(`select nextval('seat_view_processes')::int as number`);
    return row.number;
  }

  /**
   * Whether a seat of the match, not of a quota, is free or held, read in this SERIALIZABLE transaction. An index scan takes a predicate lock
   * for every seat of the match (20,000, where the server has memory for 13,000), and concurrent buyers would fail because no lock is
   * left. The sample takes one predicate lock, on the table, and reads nothing; after it the index scan needs none. A sequential scan
   * would do the same, but it reads the seats of all past matches.
   */
  async hasSeatsLeft(tx: Transaction, matchId: string): Promise<boolean> {
    await inside(tx).rows('select from seats tablesample system (0)');
    const [row] = await inside(tx).rows<{ any: boolean }>(
      `select exists (select from seats where match_id = $1 and status in ('available', 'held') and quota_id is null) as any`,
      [matchId],
    );
    return row?.any ?? false;
  }
}
