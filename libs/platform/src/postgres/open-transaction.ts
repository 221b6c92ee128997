import { AsyncLocalStorage } from 'node:async_hooks';

const open = new AsyncLocalStorage<true>();

export function whileTransactionIsOpen<T>(work: () => Promise<T>): Promise<T> {
  return open.run(true, work);
}

export function isTransactionOpen(): boolean {
  return open.getStore() === true;
}

/**
 * Every call to another system calls this first and throws inside a transaction. The block of a transaction may run six times,
 * and a call to another system cannot be rolled back. It throws a plain Error, because it reports a programming error.
 */
export function assertOutsideTransaction(action: string): void {
  if (isTransactionOpen()) throw new Error(`${action} inside an open transaction: move it out, or into the outbox.`);
}
