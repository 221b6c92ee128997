import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { GrantedTurn, GrantedTurns } from './redis-granted-turns.ts';

/** The turn that a fan's request claims to have, by its session token. */
interface PresentedTurn {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

/**
 * Stores a turn, unless it is already stored. Guarantee: a turn of an older generation is void and is not stored. A turn whose
 * generation is not known is stored without this check. It locks the match's generation, see `currentGeneration`.
 */
const STORE_TURN = `
  with current as materialized (select generation from queue_generations where match_id = $2 for share)
  insert into purchase_windows (session_token, match_id, user_id, expires_at, place_score)
  select $1, $2, $3, $4, $5
  where $6::int is null or $6 >= coalesce((select generation from current), 0)
  on conflict (session_token) do nothing`;

function storeTurnParameters(matchId: string, userId: string, turn: GrantedTurn): unknown[] {
  const { sessionToken, expiresAt, placeScore = null, generation = null } = turn;
  return [sessionToken, matchId, userId, expiresAt, placeScore, generation];
}

/**
 * Turns (permissions to buy) stored in the table `purchase_windows`. A stored turn survives a loss of Redis. It ends when its
 * order is completed, when the waiting room reports its end, or at its expiry. The generation of a match (table
 * `queue_generations`) grows with each restore of its waiting room; turns of an older generation are void.
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
    const isKnown = `select 1 from purchase_windows where session_token = $1`;
    if ((await this.dataSource.query<unknown[]>(isKnown, [sessionToken])).length > 0) return;
    const granted = await this.grantedTurns.of(matchId, userId);
    if (granted?.sessionToken !== sessionToken) return;
    await this.dataSource.query(STORE_TURN, storeTurnParameters(matchId, userId, granted));
  }

  /** Ends turns with the reason `reason`. Turns that have already ended keep their first reason. */
  async end(tx: Transaction, sessionTokens: readonly string[], reason: string): Promise<void> {
    if (sessionTokens.length === 0) return;
    await inside(tx).write(
      `update purchase_windows set ended_at = now(), end_reason = $2 where session_token = any($1) and ended_at is null`,
      [sessionTokens, reason],
    );
  }

  /**
   * The generation of a match: the number of times its waiting room was restored. It is locked until this transaction ends. A
   * restore increases the generation, so it waits for this lock. The turns that the restore reads afterwards are therefore
   * complete.
   */
  async currentGeneration(tx: Transaction, matchId: string): Promise<number> {
    const text = `select generation from queue_generations where match_id = $1 for share`;
    const [row] = await inside(tx).rows<{ generation: number }>(text, [matchId]);
    return row?.generation ?? 0;
  }

  /** Stores a turn that the waiting room has granted. */
  async granted(tx: Transaction, turn: GrantedTurn & { matchId: string; userId: string }): Promise<void> {
    await inside(tx).rows(STORE_TURN, storeTurnParameters(turn.matchId, turn.userId, turn));
  }

  /** Ends a turn that the waiting room has ended; without a session token, all turns of the fan for the match. */
  async expired(tx: Transaction, turn: PresentedTurn & { readonly reason: string }): Promise<void> {
    await inside(tx).rows(
      `update purchase_windows set ended_at = now(), end_reason = $4
       where match_id = $1 and user_id = $2 and ended_at is null and ($3::text is null or session_token = $3)`,
      [turn.matchId, turn.userId, turn.sessionToken ?? null, turn.reason],
    );
  }
}
