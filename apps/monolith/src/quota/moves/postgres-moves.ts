import { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import type { QuotaKind } from '#contracts/quota-kinds';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PlaceOwner } from '../../purchase/quota-places.api.ts';
import type { PageRequest } from '../tree/postgres-quotas.ts';
import * as sql from './moves.sql.ts';

/** A row of the ledger without its places. */
export interface LedgerRow {
  readonly id: string;
  readonly at: Date;
  readonly kind: 'creation' | 'move' | 'return';
  readonly actor: string;
  readonly approvedBy: string | null;
  readonly from: PlaceOwner;
  readonly to: PlaceOwner;
  readonly quantity: number;
  readonly reason: string;
  /** The rule that a second operator has overridden; null without one. */
  readonly rule: string | null;
}

/** A row to add to the ledger. */
export type NewMove = Omit<LedgerRow, 'id' | 'at' | 'quantity' | 'rule'> & {
  /** The id of an approved request; without it the row gets a new id. */
  readonly id?: string;
  readonly matchId: string;
  readonly seatIds: readonly string[];
};

/** A move that a rule refuses and that waits, or waited, for a second operator. */
export interface MoveRequest {
  readonly id: string;
  readonly matchId: string;
  readonly from: string;
  readonly to: string;
  readonly seatIds: readonly string[];
  readonly reason: string;
  readonly rule: string;
  readonly actor: string;
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired';
  readonly at: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
}

export type NewMoveRequest = Omit<MoveRequest, 'id' | 'status' | 'at' | 'expiresAt' | 'decidedBy'>;

/** What the use cases that move places ask of the ledger and of the pending moves. */
export type Moves = Pick<PostgresMoves, 'add' | 'addRequest' | 'lockRequest' | 'decide' | 'hasExpired' | 'lockExpired'>;

/** The ledger of moves, and the moves that wait for an approval. */
@Injectable()
export class PostgresMoves {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Ids,
  ) {}

  /** Adds a row to the ledger. Call it after `QuotaPlacesApi.move` has moved the places. */
  async add(tx: Transaction, { seatIds, ...fields }: NewMove): Promise<LedgerRow> {
    const move = { ...fields, id: fields.id ?? this.ids.next() };
    const [row] = await inside(tx).rows<{ at: Date }>(sql.ADD_MOVE.with({ move: JSON.stringify(move), seatIds }));
    return { ...move, at: row!.at, quantity: seatIds.length, rule: null };
  }

  async addRequest(tx: Transaction, facts: NewMoveRequest): Promise<MoveRequest> {
    const request = { ...facts, id: this.ids.next() };
    const { seatIds, ...fields } = request;
    const statement = sql.ADD_REQUEST.with({ request: JSON.stringify(fields), seatIds });
    const [row] = await inside(tx).rows<{ at: Date; expiresAt: Date }>(statement);
    return { ...request, ...row!, status: 'pending', decidedBy: null };
  }

  async lockRequest(tx: Transaction, id: string): Promise<MoveRequest | undefined> {
    return (await inside(tx).rows<MoveRequest>(sql.LOCK_REQUEST.with({ id })))[0];
  }

  decide(
    tx: Transaction,
    id: string,
    decision: { readonly status: 'approved' | 'rejected' | 'expired'; readonly by: string | null },
  ): Promise<void> {
    return inside(tx).write(sql.DECIDE_REQUEST.with({ id, ...decision }));
  }

  /** True if a request has expired and is not ended yet. */
  async hasExpired(): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(sql.ANY_EXPIRED_REQUEST)).length > 0;
  }

  /** Locks requests that nobody has decided in time, without those that another process ends now. */
  async lockExpired(tx: Transaction, limit: number): Promise<readonly MoveRequest[]> {
    return inside(tx).rows<MoveRequest>(sql.LOCK_EXPIRED_REQUESTS.with({ limit }));
  }

  /** The ledger of a match, oldest row first. */
  async ledger(matchId: string, { after, limit }: PageRequest): Promise<readonly LedgerRow[]> {
    return this.dataSource.query<LedgerRow[]>(sql.PAGE_OF_LEDGER, [matchId, after ?? null, limit]);
  }

  async pending(matchId: string, { after, limit }: PageRequest): Promise<readonly MoveRequest[]> {
    return this.dataSource.query<MoveRequest[]>(sql.PAGE_OF_PENDING, [matchId, after ?? null, limit]);
  }

  /** Kind of quota → how many places have moved from it to the public. */
  async returnedByKind(matchId: string): Promise<ReadonlyMap<QuotaKind, number>> {
    const rows = await this.dataSource.query<{ kind: QuotaKind; returned: number }[]>(sql.RETURNED_BY_KIND, [matchId]);
    return new Map(rows.map(({ kind, returned }) => [kind, returned]));
  }

  /** Places that left quotas of the kind `from` and are in a quota of the kind `to` now, counted by that quota. */
  async cameBack(
    matchId: string,
    { from, to }: { readonly from: QuotaKind; readonly to: QuotaKind },
  ): Promise<readonly { readonly quotaId: string; readonly places: number }[]> {
    return this.dataSource.query(sql.CAME_BACK, [matchId, from, to]);
  }
}
