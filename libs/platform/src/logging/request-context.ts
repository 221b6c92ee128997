import type { ActTarget } from '#application/recorded-change';
import type { IdempotencyKey } from '#application/idempotency-key';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TracePosition } from '../tracing/traceparent.ts';

/**
 * Data of one request, available to all asynchronous code that the request runs: the request id for logs, the idempotency key for
 * the transaction manager.
 */
export interface RequestContext {
  readonly requestId: string;
  /** Unix time in milliseconds at which the caller stops waiting. No transaction attempt starts after it. */
  readonly deadlineAt: number;
  /** The position in the trace that the caller of the request, or an OpenTelemetry SDK, has begun. */
  readonly trace?: TracePosition | undefined;
  requestKey?: RequestKey;
  /** Set for calls that the audit log records: those of operators and partners that write. */
  act?: CurrentAct;
}

/** A call of an operator or partner, as the audit log records it (CONTRACT §14). */
export interface CurrentAct {
  /** The operation id of the route. */
  readonly action: string;
  readonly actor: string;
  readonly roles: readonly string[];
  /** What the path says that the call is about. A use case may name the object more exactly (`recordChange`). */
  readonly target: ActTarget;
  readonly requestId: string;
  readonly address: string;
  /** True once its row is committed. */
  isRecorded?: boolean;
}

/** The idempotency key of the current request, and its answer once it is known (CONTRACT §4). */
export interface RequestKey extends IdempotencyKey {
  readonly userId: string;
  /** Turns the result of the command into the answer to the caller. The controller sets this function before the command runs. */
  render?: (result: unknown) => StoredAnswer;
  /** The answer that was stored with the effect. If it is set, the caller receives this answer, now and on every repetition. */
  stored?: StoredAnswer;
}

/** An answer to a request in the form in which it is stored under the idempotency key. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Gives asynchronous code the context of the request that it runs for. */
export const requestContext = {
  run: <T>(context: RequestContext, work: () => T): T => storage.run(context, work),
  current: (): RequestContext | undefined => storage.getStore(),
};
