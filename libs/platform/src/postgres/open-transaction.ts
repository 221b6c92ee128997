import { AsyncLocalStorage } from 'node:async_hooks';

const open = new AsyncLocalStorage<true>();

export function whileTransactionIsOpen<T>(work: () => Promise<T>): Promise<T> {
  return open.run(true, work);
}

export function isTransactionOpen(): boolean {
  return open.getStore() === true;
}

/**
 * Whatever reaches outside the database calls this first: the block of a transaction may run six times, and what it
 * did outside cannot be rolled back. A mistake of ours, so it is an error and not an answer.
 */
export function mustBeOutsideTransaction(what: string): void {
  if (isTransactionOpen()) throw new Error(`${what} inside an open transaction: move it out, or into the outbox.`);
}
