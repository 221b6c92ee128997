/** Proof of being inside a transaction; only the adapter that opened it can look inside. */
export abstract class Transaction {
  abstract readonly id: string;
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
}
