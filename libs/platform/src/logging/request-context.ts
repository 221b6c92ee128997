import { AsyncLocalStorage } from 'node:async_hooks';

/** What follows one request through every await: its id for the logs, its idempotency fence for the transaction manager. */
export interface RequestContext {
  readonly requestId: string;
  /** When the caller stops waiting; no attempt starts past it. */
  readonly deadlineAt: number;
  fence?: IdempotencyKey;
}

/** The caller's key on its way into the transaction of the effect (CONTRACT §4). */
export interface IdempotencyKey {
  readonly key: string;
  readonly fingerprint: string;
  readonly userId: string;
  /** Turns the answer of the command into what the caller receives; set by the controller, before the command runs. */
  render?: (result: unknown) => StoredAnswer;
  /** What was stored with the effect; anything stored is what the caller gets, now and on every replay. */
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
  /** For work that outlives the request that set it off: its key and deadline are not that work's. */
  exit: <T>(work: () => T): T => storage.exit(work),
  current: (): RequestContext | undefined => storage.getStore(),
};
