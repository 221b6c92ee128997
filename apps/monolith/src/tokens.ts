import type { Counter } from 'prom-client';

/** Injection tokens of NestJS for values that are not classes. */
export const LOGGER = Symbol('logger');
export const CONFIG = Symbol('config');
export const REDIS = Symbol('redis');
/** What carries the general jobs: BullMQ in Redis or PostgreSQL. */
export const JOB_TRANSPORT = Symbol('job transport');
/** The metric that counts, by SQLSTATE, the transactions that had to run again. */
export const TRANSACTION_RETRIES = Symbol('transaction retries');
/** The type of the counter that is injected with the token TRANSACTION_RETRIES. */
export type TransactionRetries = Pick<Counter<'sqlstate'>, 'inc'>;
/** Injection token of the `WarmUp` of this process. */
export const WARM_UP = Symbol('warm-up');
/** Whether this process rehearses purchases before it takes requests, and whether it has done so. */
export interface WarmUp {
  readonly isEnabled: boolean;
  isDone: boolean;
}
