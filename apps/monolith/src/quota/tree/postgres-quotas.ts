import { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import * as sql from './quotas.sql.ts';
import type { Quota, QuotaSettings } from './quota.ts';

/** A quota of a match. */
export type QuotaOfMatch = Pick<Quota, 'id' | 'matchId'>;

/** What the use cases that change quotas and their places ask of the tree. */
export type Quotas = Pick<
  PostgresQuotas,
  'add' | 'lock' | 'lockDue' | 'lockReturned' | 'markReturned' | 'chain' | 'currentChain' | 'ofMember' | 'due' | 'returned'
>;

/** The tree of quotas. Which places a quota has is in `seats`, behind `QuotaPlacesApi`. */
@Injectable()
export class PostgresQuotas {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Ids,
  ) {}

  async add(tx: Transaction, facts: Omit<Quota, 'id' | 'status' | 'returnedAt' | 'createdAt'>): Promise<Quota> {
    const quota = JSON.stringify({ ...facts, id: this.ids.next() });
    return the(await inside(tx).rows<Quota>(sql.INSERT_QUOTA.with({ quota })));
  }

  async change(tx: Transaction, id: string, settings: QuotaSettings): Promise<Quota> {
    return the(await inside(tx).rows<Quota>(sql.UPDATE_QUOTA.with({ id, settings: JSON.stringify(settings) })));
  }

  async lock(tx: Transaction, id: string): Promise<Quota | undefined> {
    return (await inside(tx).rows<Quota>(sql.LOCK_QUOTA.with({ id })))[0];
  }

  /** Locks a quota whose return is due; undefined if it has been returned, or another process is returning quotas now. */
  async lockDue(tx: Transaction, id: string): Promise<Quota | undefined> {
    const [lock] = await inside(tx).rows<{ isLocked: boolean }>(sql.TRY_RETURN_LOCK);
    if (!lock?.isLocked) return undefined;
    return (await inside(tx).rows<Quota>(sql.LOCK_DUE_QUOTA.with({ id })))[0];
  }

  async lockReturned(tx: Transaction, id: string): Promise<Quota | undefined> {
    return (await inside(tx).rows<Quota>(sql.LOCK_RETURNED_QUOTA.with({ id })))[0];
  }

  markReturned(tx: Transaction, id: string): Promise<void> {
    return inside(tx).write(sql.MARK_RETURNED.with({ id }));
  }

  /** The quota and its ancestors, the root last. Empty if there is no such quota. */
  async chain(tx: Transaction, id: string): Promise<readonly Quota[]> {
    return inside(tx).rows<Quota>(sql.CHAIN.with({ id }));
  }

  /** Like `chain`, as of the latest commit. */
  async currentChain(id: string): Promise<readonly Quota[]> {
    const { text, values } = sql.CHAIN.with({ id });
    return this.dataSource.query<Quota[]>(text, values);
  }

  /** The quotas of a match that have not returned their places. */
  async openOfMatch(tx: Transaction, matchId: string): Promise<readonly Quota[]> {
    return inside(tx).rows<Quota>(sql.OPEN_OF_MATCH.with({ matchId }));
  }

  async pageOfMatch(matchId: string, { after, limit }: PageRequest): Promise<readonly Quota[]> {
    return this.dataSource.query<Quota[]>(sql.PAGE_OF_MATCH, [matchId, after ?? null, limit]);
  }

  async allOfMatch(matchId: string): Promise<readonly Quota[]> {
    return this.dataSource.query<Quota[]>(sql.PAGE_OF_MATCH, [matchId, null, null]);
  }

  /** A page of the quotas of a partner and their descendants; without a partner of all quotas. */
  async pageOfMember(userId: string | undefined, { after, limit }: PageRequest): Promise<readonly Quota[]> {
    return this.dataSource.query<Quota[]>(sql.PAGE_OF_MEMBER, [userId ?? null, after ?? null, limit]);
  }

  /** The quota, if the partner acts for it or for one of its ancestors; without a partner any quota. */
  async ofMember(id: string, userId: string | undefined): Promise<Quota | undefined> {
    return (await this.dataSource.query<Quota[]>(sql.OF_MEMBER, [id, userId ?? null]))[0];
  }

  /** Quota id → ids of the quota and of all its descendants. */
  async subtrees(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.dataSource.query<{ root: string; id: string }[]>(sql.SUBTREES, [ids]);
    const subtrees = new Map<string, string[]>();
    for (const { root, id } of rows) subtrees.set(root, [...(subtrees.get(root) ?? []), id]);
    return subtrees;
  }

  async due(limit: number): Promise<readonly QuotaOfMatch[]> {
    return this.dataSource.query<QuotaOfMatch[]>(sql.DUE_QUOTAS, [limit]);
  }

  /** Returned quotas whose places go on when they become free. */
  async returned(): Promise<readonly QuotaOfMatch[]> {
    return this.dataSource.query<QuotaOfMatch[]>(sql.RETURNED_QUOTAS);
  }
}

/** Which page of a list to read. */
export interface PageRequest {
  readonly after?: string | undefined;
  readonly limit: number;
}

function the<T>([row]: readonly T[]): T {
  if (row === undefined) throw new Error('the statement returned no quota');
  return row;
}
