import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import type { StoredTurns, StoredTurn, TurnCounts } from '../../stored-turns.api.ts';
import { CLOSE_TURNS, COUNT_TURNS, NEXT_GENERATION, OPEN_TURNS, USED_TURNS } from './stored-turns.sql.ts';

/** What a restore of a match's waiting room needs of the turns in `purchase_windows`. */
export class PostgresStoredTurns implements StoredTurns {
  constructor(private readonly dataSource: DataSource) {}

  async nextGeneration(matchId: string): Promise<number> {
    const [row] = await runUnprepared<{ generation: number }[]>(this.dataSource, NEXT_GENERATION.with({ matchId }));
    if (!row) throw new Error('the upsert returned no row');
    return row.generation;
  }

  async counts(matchId: string): Promise<TurnCounts> {
    const [row] = await runUnprepared<TurnCounts[]>(this.dataSource, COUNT_TURNS.with({ matchId }));
    return row ?? { granted: 0, completed: 0, expired: 0 };
  }

  async open(matchId: string): Promise<readonly StoredTurn[]> {
    const rows = await runUnprepared<(Omit<StoredTurn, 'placeScore'> & { placeScore: string })[]>(
      this.dataSource,
      OPEN_TURNS.with({ matchId }),
    );
    return rows.map((row) => ({ ...row, placeScore: Number(row.placeScore) }));
  }

  async used(
    matchId: string,
    afterUserId: string | null,
    limit: number,
  ): Promise<readonly (readonly [userId: string, placeScore: number])[]> {
    const rows = await runUnprepared<{ userId: string; score: string }[]>(
      this.dataSource,
      USED_TURNS.with({ matchId, afterUserId, limit }),
    );
    return rows.map(({ userId, score }) => [userId, Number(score)]);
  }

  async endAll(matchId: string): Promise<void> {
    await runUnprepared(this.dataSource, CLOSE_TURNS.with({ matchId }));
  }
}
