import type { RecordedChange } from './recorded-change.ts';

/** An open transaction, passed to the ports. Only the adapter that opened it can use its database connection. */
export abstract class Transaction {
  abstract readonly id: string;
  /** Set by `recordChange`: what the audit log says about this transaction, if the call of an operator or partner runs it. */
  recordedChange?: RecordedChange;
}

/**
 * How one kind of command is executed when many arrive at the same time. The commands of a batch share one transaction and its
 * commit.
 */
export interface SharedWork<C, T> {
  /**
   * Executes the commands of a batch together, with set-based statements. Must not wait for locks. Returns undefined for a command
   * that these statements cannot decide or whose rows are locked; it must have written nothing for that command.
   */
  many(tx: Transaction, commands: readonly C[]): Promise<readonly (T | undefined)[]>;
  /**
   * Executes one command that `many` returned undefined for. It runs in a transaction of its own, checks all rules, and may wait
   * for locks.
   */
  one(tx: Transaction, command: C): Promise<T>;
}

/** How a transaction sees what others commit while it runs. */
export interface RunOptions {
  /**
   * `read committed` is for work that meets rows which many others change, and decides by rows only that it has locked. Each use is
   * listed with its reason in docs/concepts/overselling.md.
   */
  readonly isolation: 'serializable' | 'read committed';
}

/**
 * Runs a block of database work in one SERIALIZABLE transaction. After a conflict the whole block runs again in a new transaction,
 * up to six times, so it may only call ports that take `tx`. If the request has an idempotency key, the returned value is the
 * request's answer, and is stored with the key in the same commit. A call that an operator or partner makes also gets its row of the audit
 * log in this commit.
 */
export abstract class TransactionManager {
  abstract run<T>(work: (tx: Transaction) => Promise<T>, options?: RunOptions): Promise<T>;
  /**
   * Runs one step of a command with several transactions. The step commits, but stores no answer for the idempotency key; a later
   * `run` of the same command stores it.
   */
  abstract runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Like `run`, but in batches: commands that arrive while a transaction is running share the next one. Call `together` once for
   * each kind of command; it returns the function that executes a command.
   */
  abstract together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
  /** Like `together`, but each command is a step as in `runStep`: no answer is stored for its idempotency key. */
  abstract stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
}
