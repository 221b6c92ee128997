import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { GrantedTurn, GrantedTurns } from './redis-granted-turns.ts';

interface PresentedTurn {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

/**
 * Locks the generation until this transaction ends. A restore of the waiting room increases the generation, so it waits for this
 * lock, and the turns it reads afterwards are complete.
 */
const GENERATION = `select generation from queue_generations where match_id = $1 for share`;

/** A turn of an older generation is void and is not stored. */
const INSERT = `
  with current as materialized (select generation from queue_generations where match_id = $2 for share)
  insert into purchase_windows (session_token, match_id, user_id, expires_at, place_score)
  select $1, $2, $3, $4, $5 where $6::int is null or $6 >= coalesce((select generation from current), 0)
  on conflict (session_token) do nothing`;

function parametersOf(matchId: string, userId: string, turn: GrantedTurn): unknown[] {
  return [turn.sessionToken, matchId, userId, turn.expiresAt, turn.placeScore ?? null, turn.generation ?? null];
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
    await this.dataSource.query(INSERT, parametersOf(matchId, userId, granted));
  }

  async end(tx: Transaction, sessionTokens: readonly string[], reason: string): Promise<void> {
    if (sessionTokens.length === 0) return;
    await inside(tx).write(
      `update purchase_windows set ended_at = now(), end_reason = $2 where session_token = any($1) and ended_at is null`,
      [sessionTokens, reason],
    );
  }

  /** The generation whose turns are valid; 0 if the match was never restored. It cannot change before this transaction ends. */
  async currentGeneration(tx: Transaction, matchId: string): Promise<number> {
    const [row] = await inside(tx).rows<{ generation: number }>(GENERATION, [matchId]);
    return row?.generation ?? 0;
  }

  async granted(tx: Transaction, turn: GrantedTurn & { matchId: string; userId: string }): Promise<void> {
    await inside(tx).rows(INSERT, parametersOf(turn.matchId, turn.userId, turn));
  }

  async expired(
    tx: Transaction,
    turn: { matchId: string; userId: string; sessionToken: string | undefined; reason: string },
  ): Promise<void> {
    await inside(tx).rows(
      `update purchase_windows set ended_at = now(), end_reason = $4
       where match_id = $1 and user_id = $2 and ended_at is null and ($3::text is null or session_token = $3)`,
      [turn.matchId, turn.userId, turn.sessionToken ?? null, turn.reason],
    );
  }
}
