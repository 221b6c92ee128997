/** An open transaction, passed to the ports. Only the adapter that opened it can use the connection inside. */
export abstract class Transaction {
  abstract readonly id: string;
}

/** A kind of command that arrives many times at once. The commands of a batch share one transaction and its commit. */
export interface SharedWork<C, T> {
  /**
   * Decides the simple cases of a batch with set-based statements. Must not wait for locks. Returns undefined for a command that is
   * not simple or whose rows are locked; it must have written nothing for that command.
   */
  many(tx: Transaction, commands: readonly C[]): Promise<readonly (T | undefined)[]>;
  /** Decides one command that `many` left undecided, in a transaction of its own and by all rules. */
  one(tx: Transaction, command: C): Promise<T>;
}

/**
 * Runs a block of database work in one SERIALIZABLE transaction. After a conflict the whole block runs again in a new transaction,
 * up to six times, so it may only call ports that take `tx`. If the request has an idempotency key, the returned value is the
 * request's answer, and is stored with the key in the same commit.
 */
export abstract class TransactionManager {
  abstract run<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Runs one step of a longer command. It commits, but does not store an answer for the idempotency key; a later `run` does. */
  abstract runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Like `run`, but in batches: commands that arrive while a transaction is running share the next one. Call it once for each kind of
   * command; it returns the function that executes a command.
   */
  abstract together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
  /** Like `runStep`, in batches. */
  abstract stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T>;
}
