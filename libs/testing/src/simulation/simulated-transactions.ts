import { TransactionManager, type SharedWork, type Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Scheduler, Task } from './scheduler.ts';
import { ProcessMutexes, SimulatedBatches, type BatchesSeen } from './simulated-batches.ts';
import { SimulatedTransaction, SqlError, Table, type SimulatedDatabase } from './simulated-database.ts';

/** The caller's key on its way into the transaction of the effect. */
export interface KeyInHand {
  readonly key: string;
  readonly userId: string;
  readonly render: (result: never) => unknown;
  stored?: unknown;
}

export interface KeyRow {
  readonly key: string;
  readonly userId: string;
  readonly answer: unknown;
}

export const idempotencyKeys = new Table<KeyRow>('idempotency_keys');

/** Somebody else finished a request with this key first. */
export class KeyTaken extends Error {}

const RETRYABLE: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const MAX_ATTEMPTS = 6;

/** Again, whole, on contention, at most six times; what else goes wrong goes to the caller. */
export async function withRetries<T>(scheduler: Scheduler, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof SqlError) || !RETRYABLE.has(error.code)) throw error;
      if (attempts === MAX_ATTEMPTS)
        throw new DomainError('LOCK_TIMEOUT', 'Too many others want the same right now. Nothing was changed; try again.');
      await scheduler.sleep(Math.round(scheduler.random.next() * 10 * 2 ** attempts));
    }
  }
}

/** What a negative control switches off. */
export interface KeyGuards {
  /** Off: the key is looked up before the work, and fences nothing. */
  readonly fences: boolean;
  /** Off: what is decided together with others is not answered under its key. */
  readonly batchesAnswer: boolean;
}

interface Asked<C> {
  readonly command: C;
  readonly key: KeyInHand | undefined;
}

/**
 * SERIALIZABLE with the key as its first statement and the answer as its last, as the one on PostgreSQL; six attempts. Whose
 * key it is, is known by the task that runs.
 */
export class SimulatedTransactions extends TransactionManager {
  readonly seen: BatchesSeen = { 'shared commits': 0, 'decided in a round': 0, 'left to themselves': 0, 'rounds undone': 0 };
  private readonly keys = new Map<Task, KeyInHand>();
  private readonly lanes = new ProcessMutexes();

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly guards: KeyGuards = { fences: true, batchesAnswer: true },
  ) {
    super();
  }

  /** What the current request does, it does under this key. */
  async under<T>(key: KeyInHand, work: () => Promise<T>): Promise<T> {
    const task = this.db.scheduler.current;
    if (!task) throw new Error('a key without a request');
    this.keys.set(task, key);
    return work().finally(() => this.keys.delete(task));
  }

  /** Of the request that runs, for the statement that stores it itself. */
  keyInHand(): KeyInHand | undefined {
    const { current } = this.db.scheduler;
    return this.guards.fences && current ? this.keys.get(current) : undefined;
  }

  /** Whether it fences or not: by which key the request that runs was sent. */
  requestKey(): string | undefined {
    const { current } = this.db.scheduler;
    return current && this.keys.get(current)?.key;
  }

  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.attempts(work, this.openKey());
  }

  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.attempts(work, undefined);
  }

  together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const rounds = this.rounds(work, (one) => this.run(one));
    return (command) => {
      this.mustBeOutside('a shared transaction');
      return rounds.ask(command, this.openKey());
    };
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const rounds = this.rounds(work, (one) => this.runStep(one));
    return (command) => {
      this.mustBeOutside('a shared transaction');
      return rounds.ask(command, undefined);
    };
  }

  /** A call to the outside under an open transaction would hold its locks for as long as others please. */
  mustBeOutside(what: string): void {
    const { current } = this.db.scheduler;
    if ([...this.db.open].some(({ owner }) => owner === current)) throw new Error(`${what} inside an open transaction`);
  }

  private openKey(): KeyInHand | undefined {
    const key = this.keyInHand();
    if (key?.stored !== undefined) throw new Error('a second run in one request: its answer is stored already');
    return key;
  }

  private rounds<C, T>(
    work: SharedWork<C, T>,
    alone: (one: (tx: Transaction) => Promise<T>) => Promise<T>,
  ): SimulatedBatches<C, T, KeyInHand | undefined> {
    const together = (batch: readonly Asked<C>[], many: typeof work.many): Promise<readonly (T | undefined)[]> =>
      this.decide(batch, many);
    return new SimulatedBatches(this.db.scheduler, this.lanes, this.seen, work, { together, alone });
  }

  /** Keys and answers are its last statement; a request knows of its own once they are committed. */
  private async decide<C, T>(batch: readonly Asked<C>[], many: SharedWork<C, T>['many']): Promise<readonly (T | undefined)[]> {
    const [values, answers] = await this.attempts(async (tx) => {
      inside(tx).isShared = true;
      const decided = await many(
        tx,
        batch.map(({ command }) => command),
      );
      const answered = batch.flatMap(({ key }, index) => {
        const value = decided[index];
        return key && value !== undefined && this.guards.batchesAnswer ? [{ key, answer: key.render(value as never) }] : [];
      });
      await this.storeAll(inside(tx), answered);
      const { scheduler, strictness } = this.db;
      if (scheduler.random.chance(strictness.spuriousFailures))
        throw new Error('a round is undone, by the will of the simulation');
      return [decided, answered] as const;
    }, undefined);
    for (const { key, answer } of answers) key.stored = answer;
    return values;
  }

  private async storeAll(
    tx: SimulatedTransaction,
    answers: readonly { readonly key: KeyInHand; readonly answer: unknown }[],
  ): Promise<void> {
    if (answers.length === 0) return;
    await tx.statement(`stores the answers of keys ${answers.map(({ key }) => key.key).join(' ')}`);
    for (const { key, answer } of answers) {
      const row = { key: key.key, userId: key.userId, answer };
      if (!(await tx.insert(idempotencyKeys, key.key, row))) throw new KeyTaken(key.key);
    }
  }

  private attempts<T>(work: (tx: Transaction) => Promise<T>, key: KeyInHand | undefined): Promise<T> {
    this.mustBeOutside('a transaction');
    return withRetries(this.db.scheduler, async () => {
      const tx = this.db.begin();
      try {
        if (key) await this.take(tx, key);
        const result = await work(tx);
        if (key) await this.store(tx, key, result);
        await tx.commit();
        return result;
      } catch (error) {
        if (key) delete key.stored;
        tx.rollback();
        throw error;
      }
    });
  }

  private async take(tx: SimulatedTransaction, { key, userId }: KeyInHand): Promise<void> {
    await tx.statement(`takes key ${key}`);
    if (!(await tx.insert(idempotencyKeys, key, { key, userId, answer: undefined }))) throw new KeyTaken(key);
  }

  private async store(tx: SimulatedTransaction, key: KeyInHand, result: unknown): Promise<void> {
    await tx.statement(`stores the answer of key ${key.key}`);
    key.stored = key.render(result as never);
    await tx.change(idempotencyKeys, key.key, { answer: key.stored });
  }
}

/** Fakes look inside with this; use cases cannot. */
export function inside(tx: Transaction): SimulatedTransaction {
  if (!(tx instanceof SimulatedTransaction)) throw new Error('this transaction was not opened by the simulation');
  return tx;
}
