import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { END_TURNS, END_TURNS_OF_FAN, LOCK_GENERATION, STORE_TURN } from './purchase-windows.sql.ts';
import type { GrantedTurn, GrantedTurns } from './redis-granted-turns.ts';

/** The turn that a fan's request claims to have, by its session token. */
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
 * Turns (permissions to buy) stored in the table `purchase_windows`. A stored turn survives a loss of Redis. It ends when its
 * order is completed, when the waiting room reports its end, or at its expiry.
 */
export class PostgresPurchaseWindows {
  constructor(
    private readonly dataSource: DataSource,
    private readonly grantedTurns: GrantedTurns,
  ) {}

  /**
   * Stores a turn if the waiting room's event about it has not arrived yet or was lost. The turn is read from the waiting room's
   * hash in Redis; a session token that is not there is ignored.
   */
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

  /** Ends turns with the reason `reason`. Turns that have already ended keep their first reason. */
  async end(tx: Transaction, sessionTokens: readonly string[], reason: string): Promise<void> {
    if (sessionTokens.length === 0) return;
    await inside(tx).write(END_TURNS.with({ sessionTokens, reason }));
  }

  /**
   * The generation of a match: the number of times its waiting room was restored. Turns of an older generation are void. It
   * cannot change before this transaction ends.
   */
  async currentGeneration(tx: Transaction, matchId: string): Promise<number> {
    const [row] = await inside(tx).rows<{ generation: number }>(LOCK_GENERATION.with({ matchId }));
    return row?.generation ?? 0;
  }

  /** Stores a turn that the waiting room has granted. */
  async granted(tx: Transaction, turn: GrantedTurn & { matchId: string; userId: string }): Promise<void> {
    await inside(tx).rows(storeTurn(turn.matchId, turn.userId, turn));
  }

  /** Ends a turn that the waiting room has ended; without a session token, all turns of the fan for the match. */
  async expired(
    tx: Transaction,
    turn: { matchId: string; userId: string; sessionToken: string | undefined; reason: string },
  ): Promise<void> {
    const { matchId, userId, sessionToken = null, reason } = turn;
    await inside(tx).rows(END_TURNS_OF_FAN.with({ matchId, userId, sessionToken, reason }));
  }
}
