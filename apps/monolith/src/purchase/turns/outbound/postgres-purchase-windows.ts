import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { END_TURNS, END_TURNS_OF_FAN, LOCK_GENERATION, STORE_TURN } from './purchase-windows.sql.ts';
import type { GrantedTurn, GrantedTurns } from './redis-granted-turns.ts';

interface PresentedTurn {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

function storeTurn(matchId: string, userId: string, turn: GrantedTurn): PreparedStatement {
  const { sessionToken, expiresAt, placeScore = null, generation = null } = turn;
  return STORE_TURN.with({ sessionToken, matchId, userId, expiresAt, placeScore, generation });
}

/**
 * Turns stored in PostgreSQL. A stored turn survives a loss of Redis. It ends by its completed order, by an event of the waiting room
 * or by its expiry.
 */
export class PostgresPurchaseWindows {
  constructor(
    private readonly dataSource: DataSource,
    private readonly grantedTurns: GrantedTurns,
  ) {}

  /** Stores a turn whose event has not arrived yet or was lost. The waiting room's hash in Redis has it. */
  async learn({ matchId, userId, sessionToken }: PresentedTurn): Promise<void> {
    if (!sessionToken) return;
    const known = (await this.dataSource.query(`select 1 from purchase_windows where session_token = $1`, [
      sessionToken,
    ])) as unknown[];
    if (known.length > 0) return;
    const granted = await this.grantedTurns.of(matchId, userId);
    if (granted?.sessionToken !== sessionToken) return;
    await runUnprepared(this.dataSource, storeTurn(matchId, userId, granted));
  }

  async end(tx: Transaction, sessionTokens: readonly string[], reason: string): Promise<void> {
    if (sessionTokens.length === 0) return;
    await inside(tx).write(END_TURNS.with({ sessionTokens, reason }));
  }

  /** The generation whose turns are valid; 0 if the match was never restored. It cannot change before this transaction ends. */
  async currentGeneration(tx: Transaction, matchId: string): Promise<number> {
    const [row] = await inside(tx).rows<{ generation: number }>(LOCK_GENERATION.with({ matchId }));
    return row?.generation ?? 0;
  }

  async granted(tx: Transaction, turn: GrantedTurn & { matchId: string; userId: string }): Promise<void> {
    await inside(tx).rows(storeTurn(turn.matchId, turn.userId, turn));
  }

  async expired(
    tx: Transaction,
    turn: { matchId: string; userId: string; sessionToken: string | undefined; reason: string },
  ): Promise<void> {
    const { matchId, userId, sessionToken = null, reason } = turn;
    await inside(tx).rows(END_TURNS_OF_FAN.with({ matchId, userId, sessionToken, reason }));
  }
}
