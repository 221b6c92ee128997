import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { GrantedTurns } from './redis-granted-turns.ts';

export interface OpenWindow {
  readonly sessionToken: string;
  readonly expiresAt: Date;
}

interface Asked {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

interface WindowRow {
  readonly user_id: string;
  readonly match_id: string;
  readonly expires_at: Date;
  readonly end_reason: string | null;
  readonly over: boolean;
}

const OPEN = `
  select user_id, match_id, expires_at, end_reason, expires_at <= now() as over from purchase_windows where session_token = $1`;

const INSERT = `
  insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, $4)
  on conflict (session_token) do nothing`;

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
    await this.dataSource.query(INSERT, [sessionToken, matchId, userId, granted.expiresAt]);
  }

  /** None, unknown, used or another's: one wording, so that nobody learns whose token it is. */
  async open({ matchId, userId, sessionToken }: Asked, tx?: Transaction): Promise<OpenWindow> {
    const rows = tx
      ? await inside(tx).rows<WindowRow>(OPEN, [sessionToken ?? null])
      : await this.dataSource.query<WindowRow[]>(OPEN, [sessionToken ?? null]);
    const row = rows[0];
    const own = row?.user_id === userId && row.match_id === matchId;
    if (own && (row.end_reason === 'window_timeout' || (row.end_reason === null && row.over))) {
      throw new DomainError('PURCHASE_WINDOW_EXPIRED', 'Your turn is over. You can join the waiting room again.');
    }
    if (!own || row.end_reason !== null || !sessionToken) {
      throw new DomainError('PURCHASE_WINDOW_REQUIRED', 'Seats of this match are sold in turns: join the waiting room first.');
    }
    return { sessionToken, expiresAt: row.expires_at };
  }

  async end(tx: Transaction, sessionToken: string, reason: string): Promise<void> {
    await inside(tx).rows(
      `update purchase_windows set ended_at = now(), end_reason = $2 where session_token = $1 and ended_at is null`,
      [sessionToken, reason],
    );
  }

  async granted(
    tx: Transaction,
    turn: { matchId: string; userId: string; sessionToken: string; expiresAt: string },
  ): Promise<void> {
    await inside(tx).rows(INSERT, [turn.sessionToken, turn.matchId, turn.userId, turn.expiresAt]);
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
