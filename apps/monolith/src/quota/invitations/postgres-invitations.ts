import { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashOfToken } from '../messages/invitation-token.ts';
import type { PageRequest } from '../tree/postgres-quotas.ts';
import * as sql from './invitations.sql.ts';
import { addressKey } from './plan-list.ts';

/** An invitation as it is stored. */
export interface Invitation {
  readonly id: string;
  readonly matchId: string;
  readonly quotaId: string;
  readonly listKey: string | null;
  readonly email: string;
  readonly name: string | null;
  readonly userId: string | null;
  readonly locale: 'hr' | 'en';
  readonly sectorId: string;
  readonly seatIds: readonly string[];
  readonly quantity: number;
  readonly note: string | null;
  /** `open` also while a fan holds or has bought its places; `claimed` once it has ended after a purchase. */
  readonly status: 'open' | 'claimed' | 'expired' | 'withdrawn';
  readonly expiresAt: Date;
  /** The latest claim. */
  readonly reservationId: string | null;
  readonly claimedAt: Date | null;
  readonly createdAt: Date;
}

/** What the new invitations of a list have in common. */
export interface ListFacts {
  readonly matchId: string;
  readonly quotaId: string;
  readonly listKey: string | null;
  readonly expiresAt: Date;
  /** The end that the list asks for. Null: the invitations end with their quota. */
  readonly givenEnd: Date | null;
  /** The user id of who issues them. */
  readonly actor: string;
}

/** An invitation to add. */
export type NewInvitation = Pick<Invitation, 'id' | 'email' | 'name' | 'userId' | 'locale' | 'sectorId' | 'seatIds' | 'note'>;

/** What the use cases that issue and end invitations ask of them. */
export type Invitations = Pick<PostgresInvitations, 'newIds' | 'add' | 'listed' | 'addTokens' | 'lock'>;

/** The invitations of quotas and their tokens. */
@Injectable()
export class PostgresInvitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Ids,
  ) {}

  /** Ids for new invitations, in ascending order. */
  newIds(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.ids.next()).sort();
  }

  /** Adds the invitations that their list does not have yet, and returns the ids of those that were added. */
  async add(tx: Transaction, facts: ListFacts, invitations: readonly NewInvitation[]): Promise<ReadonlySet<string>> {
    const statement = sql.INSERT_INVITATIONS.with({
      facts: JSON.stringify(facts),
      invitations: JSON.stringify(invitations),
    });
    return new Set((await inside(tx).rows<{ id: string }>(statement)).map(({ id }) => id));
  }

  /** Address → id of the invitations of a list to these addresses. Empty without a list. */
  async listed(
    { quotaId, listKey }: Pick<ListFacts, 'quotaId' | 'listKey'>,
    emails: readonly string[],
    tx?: Transaction,
  ): Promise<ReadonlyMap<string, string>> {
    if (listKey === null || emails.length === 0) return new Map();
    const statement = sql.LISTED_INVITATIONS.with({ quotaId, listKey, emails: emails.map(addressKey) });
    type Row = { readonly id: string; readonly email: string };
    const rows = tx
      ? await inside(tx).rows<Row>(statement)
      : await this.dataSource.query<Row[]>(statement.text, statement.values);
    return new Map(rows.map(({ id, email }) => [email, id]));
  }

  /** Stores the hashes of new tokens: invitation id → token. */
  addTokens(tx: Transaction, tokens: ReadonlyMap<string, string>): Promise<void> {
    const hashes = Object.fromEntries([...tokens].map(([id, token]) => [id, hashOfToken(token).toString('hex')]));
    return inside(tx).write(sql.ADD_TOKENS.with({ hashes: JSON.stringify(hashes) }));
  }

  /** All tokens of the invitation stop working. */
  deleteTokens(tx: Transaction, id: string): Promise<void> {
    return inside(tx).write(sql.DELETE_TOKENS.with({ id }));
  }

  async find(id: string): Promise<Invitation | undefined> {
    return (await this.dataSource.query<Invitation[]>(sql.FIND_INVITATION, [id]))[0];
  }

  async lock(tx: Transaction, id: string): Promise<Invitation | undefined> {
    return (await inside(tx).rows<Invitation>(sql.LOCK_INVITATION.with({ id })))[0];
  }

  /** A page of the invitations of a quota, newest first. */
  async pageOfQuota(quotaId: string, { after, limit }: PageRequest): Promise<readonly Invitation[]> {
    return this.dataSource.query<Invitation[]>(sql.PAGE_OF_QUOTA, [quotaId, after ?? null, limit]);
  }
}
