import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { GrantedTurn, GrantedTurns } from './redis-granted-turns.ts';

interface Asked {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

/** Locked until the turn is stored: who restores the waiting room takes the next generation, and then reads every turn there is. */
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
 * Turns as PostgreSQL knows them: a known one outlives a wipe of Redis, and ends by its completed order, by the waiting
 * room's word, or by its time.
 */
export class PostgresPurchaseWindows {
  constructor(
    private readonly dataSource: DataSource,
    private readonly grantedTurns: GrantedTurns,
  ) {}

  /** A turn nobody told us of yet (the message is on its way, or lost) stands in the waiting room's own hash. */
  async learn({ matchId, userId, sessionToken }: Asked): Promise<void> {
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

  /** Of the state in Redis whose turns are good; none can follow it before this transaction ends. 0 before the first. */
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
