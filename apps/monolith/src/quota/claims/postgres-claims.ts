import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashOfToken } from '../messages/invitation-token.ts';
import * as sql from './claims.sql.ts';
import type { ClaimableInvitation, LockedInvitation } from './claimable-invitation.ts';

/** What the claim and the end of invitations ask of them. */
export type Claims = Pick<
  PostgresClaims,
  'lockByToken' | 'lockOpen' | 'setClaimed' | 'setEnded' | 'due' | 'openOfCancelledMatches'
>;

/** Reads, claims and ends invitations. */
@Injectable()
export class PostgresClaims {
  constructor(private readonly dataSource: DataSource) {}

  /** What the fan who claimed these invitations may know of them, by id. */
  async claimedBy(userId: string, ids: readonly string[]): Promise<ReadonlyMap<string, sql.ClaimedInvitation>> {
    const rows = await runUnprepared<(Omit<sql.ClaimedInvitation, 'created_at'> & { readonly created_at: Date })[]>(
      this.dataSource,
      sql.CLAIMED_INVITATIONS.with({ userId, ids }),
    );
    return new Map(rows.map((row) => [row.id, { ...row, created_at: row.created_at.toISOString() }]));
  }

  async byToken(token: string): Promise<ClaimableInvitation | undefined> {
    const statement = sql.READ_BY_TOKEN.with({ tokenHash: hashOfToken(token) });
    return (await runUnprepared<ClaimableInvitation[]>(this.dataSource, statement))[0];
  }

  async lockByToken(tx: Transaction, token: string): Promise<ClaimableInvitation | undefined> {
    const statement = sql.LOCK_BY_TOKEN.with({ tokenHash: hashOfToken(token) });
    return (await inside(tx).rows<ClaimableInvitation>(statement))[0];
  }

  /** Waits for no lock: invitations that another transaction has locked are missing. */
  lockOpen(tx: Transaction, ids: readonly string[]): Promise<readonly LockedInvitation[]> {
    return inside(tx).rows<LockedInvitation>(sql.LOCK_OPEN.with({ ids }));
  }

  setClaimed(
    tx: Transaction,
    claim: { readonly id: string; readonly reservationId: string; readonly userId: string },
  ): Promise<void> {
    return inside(tx).write(sql.SET_CLAIMED.with(claim));
  }

  async setEnded(tx: Transaction, ids: readonly string[], status: 'claimed' | 'expired' | 'withdrawn'): Promise<void> {
    if (ids.length > 0) await inside(tx).write(sql.SET_ENDED.with({ ids, status }));
  }

  /** Open invitations of the quota end at `end` now, or at the earlier end that was given when they were issued. */
  moveEnds(tx: Transaction, quotaId: string, end: Date): Promise<void> {
    return inside(tx).write(sql.MOVE_ENDS.with({ quotaId, end }));
  }

  /** Open invitations whose time is over, those that ended first; without the ones in `except`. */
  async due(except: readonly string[], limit: number): Promise<readonly string[]> {
    return idsOf(await this.dataSource.query<{ id: string }[]>(sql.DUE_INVITATIONS, [except, limit]));
  }

  async openOfFan(userId: string, email: string | null): Promise<readonly string[]> {
    return idsOf(await runUnprepared<{ id: string }[]>(this.dataSource, sql.OPEN_OF_FAN.with({ userId, email })));
  }

  async openOfCancelledMatches(limit: number): Promise<readonly string[]> {
    return idsOf(await this.dataSource.query<{ id: string }[]>(sql.OPEN_OF_CANCELLED_MATCHES, [limit]));
  }
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
