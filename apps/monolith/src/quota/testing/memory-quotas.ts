import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import type { QuotaOfMatch, Quotas } from '../tree/postgres-quotas.ts';
import type { Quota } from '../tree/quota.ts';
import { quotaTables } from './memory-quota-tables.ts';

const { quotas, advisoryLocks } = quotaTables;

/** Does the same as postgres-quotas.ts, statement by statement, on the simulated database. */
export class MemoryQuotas implements Quotas {
  constructor(
    private readonly db: SimulatedDatabase,
    /** Protection of the real adapter. If a negative control switches it off, quotas are read without a lock. */
    private readonly locks = true,
  ) {}

  async add(tx: Transaction, facts: Omit<Quota, 'id' | 'status' | 'returnedAt' | 'createdAt'>): Promise<Quota> {
    const { scheduler } = this.db;
    await inside(tx).statement(`adds quota ${facts.name}`);
    const id = scheduler.newId('q');
    const quota: Quota = { ...facts, id, status: 'open', returnedAt: null, createdAt: inside(tx).now };
    await inside(tx).put(quotas, id, quota);
    for (const at of [facts.claimUntil, facts.returnAt]) if (at) scheduler.registerExpiry(at.getTime());
    return quota;
  }

  async lock(tx: Transaction, id: string): Promise<Quota | undefined> {
    await inside(tx).statement(`locks quota ${id}`);
    const quota = inside(tx).get(quotas, id);
    return quota && this.locks ? inside(tx).lock(quotas, id) : quota;
  }

  async lockDue(tx: Transaction, id: string): Promise<Quota | undefined> {
    const open = inside(tx);
    await open.statement('takes the lock of returns');
    if (this.locks && (await open.lockOrSkip(advisoryLocks, 'return of quotas')) === 'locked') return undefined;
    await open.statement(`locks due quota ${id}`);
    const isDue = ({ status, returnAt }: Quota): boolean => status === 'open' && (returnAt?.getTime() ?? Infinity) <= this.now;
    return this.lockIf(tx, id, isDue);
  }

  async lockReturned(tx: Transaction, id: string): Promise<Quota | undefined> {
    await inside(tx).statement(`locks returned quota ${id}`);
    return this.lockIf(tx, id, ({ status }) => status === 'returned');
  }

  async markReturned(tx: Transaction, id: string): Promise<void> {
    await inside(tx).statement(`marks quota ${id} as returned`);
    await inside(tx).change(quotas, id, { status: 'returned', returnedAt: this.db.scheduler.now() });
  }

  async chain(tx: Transaction, id: string): Promise<readonly Quota[]> {
    await inside(tx).statement(`reads quota ${id} and its ancestors`);
    return chainOf(id, (of) => inside(tx).get(quotas, of));
  }

  async currentChain(id: string): Promise<readonly Quota[]> {
    const chain = chainOf(id, (of) => this.db.read(quotas, of));
    await this.db.scheduler.step(`reads quota ${id} and its ancestors`);
    return chain;
  }

  async ofMember(id: string, userId: string | undefined): Promise<Quota | undefined> {
    const chain = chainOf(id, (of) => this.db.read(quotas, of));
    await this.db.scheduler.step(`reads quota ${id}`);
    return userId === undefined || chain.some(({ members }) => members.includes(userId)) ? chain[0] : undefined;
  }

  async due(limit: number): Promise<readonly QuotaOfMatch[]> {
    const due = this.db.rows(quotas, ({ status, returnAt }) => status === 'open' && returnAt !== null);
    const isDue = due.filter(({ returnAt }) => Number(returnAt) <= this.now);
    await this.db.scheduler.step('reads due quotas');
    const byTime = (a: Quota, b: Quota): number =>
      Number(a.returnAt) - Number(b.returnAt) || b.depth - a.depth || (a.id < b.id ? -1 : 1);
    return isDue.sort(byTime).slice(0, limit).map(asQuotaOfMatch);
  }

  async returned(): Promise<readonly QuotaOfMatch[]> {
    const found = this.db.rows(quotas, ({ status, onReturn }) => status === 'returned' && onReturn !== 'keep');
    await this.db.scheduler.step('reads returned quotas');
    return found.sort((a, b) => b.depth - a.depth || (a.id < b.id ? -1 : 1)).map(asQuotaOfMatch);
  }

  private get now(): number {
    return this.db.scheduler.nowMs;
  }

  /** `for update skip locked` of a row that matches. */
  private async lockIf(tx: Transaction, id: string, matches: (quota: Quota) => boolean): Promise<Quota | undefined> {
    const seen = inside(tx).get(quotas, id);
    if (!seen || !matches(seen) || !this.locks) return seen && matches(seen) ? seen : undefined;
    const locked = await inside(tx).lockOrSkip(quotas, id);
    return locked === 'locked' ? undefined : locked;
  }
}

const asQuotaOfMatch = ({ id, matchId }: Quota): QuotaOfMatch => ({ id, matchId });

function chainOf(id: string, read: (id: string) => Quota | undefined): readonly Quota[] {
  const chain: Quota[] = [];
  for (let quota = read(id); quota; quota = quota.parentId === null ? undefined : read(quota.parentId)) chain.push(quota);
  return chain;
}
