import { TransactionManager, type SharedWork, type Transaction } from '#application/transaction-manager';
import { retrySerializable } from '#platform/postgres/serializable';
import type { Scheduler, Task } from './scheduler.ts';
import { ProcessMutexes, SimulatedBatches, type BatchCounts } from './simulated-batches.ts';
import { SimulatedTransaction, Table, type SimulatedDatabase } from './simulated-database.ts';

/**
 * The idempotency key of the current request. The transaction that has the effect stores the key together with the answer, which
 * `render` makes from the result.
 */
export interface CurrentKey {
  readonly key: string;
  readonly userId: string;
  readonly render: (result: never) => unknown;
  stored?: unknown;
}

/** A row of the simulated table `idempotency_keys`. */
export interface KeyRow {
  readonly key: string;
  readonly userId: string;
  readonly answer: unknown;
}

/** The simulated table `idempotency_keys`, with one row for each committed request. */
export const idempotencyKeys = new Table<KeyRow>('idempotency_keys');

/** Thrown when another request with the same idempotency key has committed first. */
export class KeyTaken extends Error {}

/** Retries a simulated transaction as a real one, but with a fifth of the pauses. */
export function withRetries<T>(scheduler: Scheduler, attempt: () => Promise<T>): Promise<T> {
  return retrySerializable(attempt, {
    onRetry: () => undefined,
    random: () => scheduler.random.next(),
    sleep: (ms) => scheduler.sleep(Math.round(ms / 5)),
  });
}

/** The uses of idempotency keys that a negative control (a test that must fail without them) switches off. */
export interface KeyGuards {
  /** If false, no idempotency row is written in the transaction of the effect. */
  readonly writesKeyRow: boolean;
  /** If false, a batch does not store the answers of its commands under their keys. */
  readonly batchesAnswer: boolean;
}

interface BatchedCommand<C> {
  readonly command: C;
  readonly key: CurrentKey | undefined;
}

/**
 * Simulates PostgresTransactionManager: transactions are SERIALIZABLE, the first statement takes the idempotency key, the last
 * statement stores the answer, and there are at most six attempts. The key belongs to the task that is running.
 */
export class SimulatedTransactions extends TransactionManager {
  readonly seen: BatchCounts = {
    'shared commits': 0,
    'commands decided in a batch': 0,
    'commands decided alone': 0,
    'batches rolled back': 0,
  };
  private readonly keys = new Map<Task, CurrentKey>();
  private readonly mutexes = new ProcessMutexes();

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly guards: KeyGuards = { writesKeyRow: true, batchesAnswer: true },
  ) {
    super();
  }

  /** Runs `work` as a request with this idempotency key. */
  async under<T>(key: CurrentKey, work: () => Promise<T>): Promise<T> {
    const task = this.db.scheduler.current;
    if (!task) throw new Error('a key without a running task');
    this.keys.set(task, key);
    return work().finally(() => this.keys.delete(task));
  }

  /** The idempotency key of the running request, for a statement that stores the key itself. Undefined if `writesKeyRow` is off. */
  currentKey(): CurrentKey | undefined {
    const { current } = this.db.scheduler;
    return this.guards.writesKeyRow && current ? this.keys.get(current) : undefined;
  }

  /** The idempotency key of the running request, even if `writesKeyRow` is off. */
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
    const batches = this.batches(work, (alone) => this.run(alone));
    return (command) => {
      this.mustBeOutside('a shared transaction');
      return batches.ask(command, this.openKey());
    };
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const batches = this.batches(work, (alone) => this.runStep(alone));
    return (command) => {
      this.mustBeOutside('a shared transaction');
      return batches.ask(command, undefined);
    };
  }

  /**
   * Throws if the running task has an open transaction, whose locks would be held too long during `what` (such as a call to a
   * provider).
   */
  mustBeOutside(what: string): void {
    const { current } = this.db.scheduler;
    if ([...this.db.open].some(({ owner }) => owner === current)) throw new Error(`${what} inside an open transaction`);
  }

  private openKey(): CurrentKey | undefined {
    const key = this.currentKey();
    if (key?.stored !== undefined) throw new Error('a second transaction in one request: its answer is already stored');
    return key;
  }

  private batches<C, T>(
    work: SharedWork<C, T>,
    alone: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
  ): SimulatedBatches<C, T, CurrentKey | undefined> {
    const together = (batch: readonly BatchedCommand<C>[], many: typeof work.many): Promise<readonly (T | undefined)[]> =>
      this.decide(batch, many);
    return new SimulatedBatches(this.db.scheduler, this.mutexes, this.seen, work, { together, alone });
  }

  /** Decides a batch. Its last statement stores all keys and answers; the requests get their answers after the commit. */
  private async decide<C, T>(
    batch: readonly BatchedCommand<C>[],
    many: SharedWork<C, T>['many'],
  ): Promise<readonly (T | undefined)[]> {
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
      if (scheduler.random.chance(strictness.spuriousFailures)) throw new Error('the simulation rolls this batch back');
      return [decided, answered] as const;
    }, undefined);
    for (const { key, answer } of answers) key.stored = answer;
    return values;
  }

  private async storeAll(
    tx: SimulatedTransaction,
    answers: readonly { readonly key: CurrentKey; readonly answer: unknown }[],
  ): Promise<void> {
    if (answers.length === 0) return;
    await tx.statement(`stores the answers of keys ${answers.map(({ key }) => key.key).join(' ')}`);
    for (const { key, answer } of answers) {
      const row = { key: key.key, userId: key.userId, answer };
      if (!(await tx.insert(idempotencyKeys, key.key, row))) throw new KeyTaken(key.key);
    }
  }

  private attempts<T>(work: (tx: Transaction) => Promise<T>, key: CurrentKey | undefined): Promise<T> {
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

  private async take(tx: SimulatedTransaction, { key, userId }: CurrentKey): Promise<void> {
    await tx.statement(`takes key ${key}`);
    if (!(await tx.insert(idempotencyKeys, key, { key, userId, answer: undefined }))) throw new KeyTaken(key);
  }

  private async store(tx: SimulatedTransaction, key: CurrentKey, result: unknown): Promise<void> {
    await tx.statement(`stores the answer of key ${key.key}`);
    key.stored = key.render(result as never);
    await tx.change(idempotencyKeys, key.key, { answer: key.stored });
  }
}

/**
 * Returns a `Transaction` as the SimulatedTransaction that it is, for in-memory adapters. Use cases see only the type
 * `Transaction`.
 */
export function inside(tx: Transaction): SimulatedTransaction {
  if (!(tx instanceof SimulatedTransaction)) throw new Error('this transaction was not opened by the simulation');
  return tx;
}
