import type { IdempotencyKey } from '#application/idempotency-key';
import { AsyncLocalStorage } from 'node:async_hooks';

/** Data of one request, available in all its asynchronous code: the id for logs, the idempotency key for the transaction manager. */
export interface RequestContext {
  readonly requestId: string;
  /** Unix time in milliseconds at which the caller stops waiting. No transaction attempt starts after it. */
  readonly deadlineAt: number;
  requestKey?: RequestKey;
}

/** The idempotency key of the current request, and its answer once it is known (CONTRACT §4). */
export interface RequestKey extends IdempotencyKey {
  readonly userId: string;
  /** Turns the command's result into the caller's answer. The controller sets it before the command runs. */
  render?: (result: unknown) => StoredAnswer;
  /** The answer that was stored with the effect. If it is set, the caller receives it, now and on every replay. */
  stored?: StoredAnswer;
}

export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

export const requestContext = {
  run: <T>(context: RequestContext, work: () => T): T => storage.run(context, work),
  /** Runs work without a request context, for work that outlives the request: it must not use the request's key or deadline. */
  exit: <T>(work: () => T): T => storage.exit(work),
  current: (): RequestContext | undefined => storage.getStore(),
};
