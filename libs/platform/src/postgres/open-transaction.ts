import { AsyncLocalStorage } from 'node:async_hooks';

const open = new AsyncLocalStorage<true>();

/** Runs the block of a transaction, so that `isTransactionOpen` is true in it. */
export function whileTransactionIsOpen<T>(work: () => Promise<T>): Promise<T> {
  return open.run(true, work);
}

/** True inside the block of a transaction. */
export function isTransactionOpen(): boolean {
  return open.getStore() === true;
}

/**
 * Throws inside a transaction; every function that calls another system calls this first. The block of a transaction may run six
 * times, and a call to another system cannot be rolled back. The error is a plain Error, because it reports a programming error.
 */
export function assertOutsideTransaction(action: string): void {
  if (isTransactionOpen()) throw new Error(`${action} inside an open transaction: move it out, or into the outbox.`);
}
