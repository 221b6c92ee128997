import { requestContext } from '../logging/request-context.ts';

const LEDGER_DEADLINE_MS = 10_000;

/** A job may have waited longer for its turn at the provider than its own deadline is; the ledger's rows get a fresh one. */
export function outsideTheJobsDeadline<T>(work: () => Promise<T>): Promise<T> {
  const requestId = requestContext.current()?.requestId ?? 'ledger';
  return requestContext.run({ requestId, deadlineAt: Date.now() + LEDGER_DEADLINE_MS }, work);
}
