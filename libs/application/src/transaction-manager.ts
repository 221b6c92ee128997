/** Proof of being inside a transaction; only the adapter that opened it can look inside. */
export abstract class Transaction {
  abstract readonly id: string;
}

/** A command that many give at the same time, so that their commits can be shared. */
export interface SharedWork<C, T> {
  /**
   * Decides by sets what is plain, and waits for nobody. Undefined where something is not plain, or is locked by somebody:
   * of that command nothing has been written.
   */
  many(tx: Transaction, commands: readonly C[]): Promise<readonly (T | undefined)[]>;
  /** Decides whatever `many` left, by itself and by every rule. */
  one(tx: Transaction, command: C): Promise<T>;
}

/**
 * Runs a block of database work in one SERIALIZABLE transaction. The block may run again, whole, in a new transaction
 * (up to six times), so it calls nothing but ports that take `tx`. When the request carries an idempotency key, the
 * value the block returns is the request's answer and is stored with the key in the same commit.
 */
export abstract class TransactionManager {
  abstract run<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A step of a longer command: commits on its own and leaves the key open for the transaction that brings the answer. */
  abstract runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Like `run`, for a kind of command made once: those that come while a transaction is under way share the next one. */
  abstract together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
  /** Like `runStep`, shared. */
  abstract stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
}
