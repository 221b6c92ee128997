import type { Counter } from 'prom-client';

/** What is injected without being a class. */
export const LOGGER = Symbol('logger');
export const CONFIG = Symbol('config');
export const REDIS = Symbol('redis');
/** Whether this process runs the loops (relays, listeners, schedules), or only borrows use cases. */
export const LOOPS = Symbol('loops');
/** Counts transactions that had to run again, by SQLSTATE. */
export const TRANSACTION_RETRIES = Symbol('transaction retries');
export type TransactionRetries = Pick<Counter<'sqlstate'>, 'inc'>;
