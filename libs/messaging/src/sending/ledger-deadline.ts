import { requestContext } from '#platform/logging/request-context';

const LEDGER_DEADLINE_MS = 10_000;

/**
 * Runs a transaction on the ledger of sends (which message was sent) with a new deadline of 10 s. The deadline of the job may
 * have passed while the job waited for the provider's rate limit.
 */
export function withLedgerDeadline<T>(work: () => Promise<T>): Promise<T> {
  const { requestId = 'ledger', trace } = requestContext.current() ?? {};
  return requestContext.run({ requestId, deadlineAt: Date.now() + LEDGER_DEADLINE_MS, trace }, work);
}
