import type { Counter } from 'prom-client';

/** Injection tokens for values that are not classes. */
export const LOGGER = Symbol('logger');
export const CONFIG = Symbol('config');
export const REDIS = Symbol('redis');
/** True when this process runs the background loops (relays, listeners, schedules). The CLI only calls use cases: false. */
export const LOOPS = Symbol('loops');
/** Counts transactions that had to run again, by SQLSTATE. */
export const TRANSACTION_RETRIES = Symbol('transaction retries');
export type TransactionRetries = Pick<Counter<'sqlstate'>, 'inc'>;
