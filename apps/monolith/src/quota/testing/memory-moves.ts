import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import { tables } from '../../purchase/testing/memory-tables.ts';
import type { LedgerRow, MoveRequest, Moves, NewMove, NewMoveRequest } from '../moves/postgres-moves.ts';
import { quotaTables } from './memory-quota-tables.ts';

const DAY_MS = 86_400_000;
const { moveRequests } = tables;

/** Does the same as postgres-moves.ts, statement by statement, on the simulated database. */
export class MemoryMoves implements Moves {
  constructor(
    private readonly db: SimulatedDatabase,
    /** Protection of the callers. If a negative control switches it off, the ledger is written in a second transaction. */
    private readonly isInTransaction = true,
  ) {}

  async add(tx: Transaction, { seatIds, ...fields }: NewMove): Promise<LedgerRow> {
    const { scheduler } = this.db;
    await inside(tx).statement(`adds ${seatIds.join(' ')} to the ledger`);
    const id = fields.id ?? scheduler.newId('m');
    // Like the identity of a column: a rollback does not return the number.
    const seq = Number(scheduler.newId(''));
    const row = { ...fields, id, at: scheduler.now(), quantity: seatIds.length };
    const open = this.isInTransaction ? inside(tx) : this.db.begin();
    await open.insertNew(quotaTables.moves, id, { ...row, seq, seatIds });
    if (!this.isInTransaction) await open.commit();
    return { ...row, rule: null };
  }

  async addRequest(tx: Transaction, facts: NewMoveRequest): Promise<MoveRequest> {
    const { scheduler } = this.db;
    await inside(tx).statement('adds a pending move');
    const id = scheduler.newId('m');
    const [at, expiresAt] = [scheduler.now(), new Date(scheduler.nowMs + DAY_MS)];
    const request: MoveRequest = { ...facts, id, at, expiresAt, status: 'pending', decidedBy: null };
    await inside(tx).put(moveRequests, id, request);
    return request;
  }

  async lockRequest(tx: Transaction, id: string): Promise<MoveRequest | undefined> {
    await inside(tx).statement(`locks pending move ${id}`);
    const request = inside(tx).get(moveRequests, id) && (await inside(tx).lock(moveRequests, id));
    return request && { ...request, status: this.isExpired(request) ? 'expired' : request.status };
  }

  async decide(
    tx: Transaction,
    id: string,
    { status, by }: { readonly status: 'approved' | 'rejected' | 'expired'; readonly by: string | null },
  ): Promise<void> {
    await inside(tx).statement(`makes pending move ${id} ${status}`);
    await inside(tx).change(moveRequests, id, { status, decidedBy: by });
  }

  async hasExpired(): Promise<boolean> {
    const has = this.db.rows(moveRequests, (request) => this.isExpired(request)).length > 0;
    await this.db.scheduler.step('reads whether a pending move has expired');
    return has;
  }

  async lockExpired(tx: Transaction, limit: number): Promise<readonly MoveRequest[]> {
    const open = inside(tx);
    await open.statement('locks expired pending moves');
    const expired = open.find(moveRequests, ({ status }) => status === 'pending').filter((request) => this.isExpired(request));
    const ids = expired.sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime()).map(({ id }) => id);
    const locked = await open.lockFree(moveRequests, ids.slice(0, limit));
    return [...locked.values()].map((request) => ({ ...request, status: 'expired' }));
  }

  private isExpired({ status, expiresAt }: MoveRequest): boolean {
    return status === 'pending' && expiresAt.getTime() <= this.db.scheduler.nowMs;
  }
}
