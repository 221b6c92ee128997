import type { Origin } from '#application/origin';
import { requestContext } from '../logging/request-context.ts';
import { currentTrace, inSpan, SpanKind } from './spans.ts';
import { formatTraceparent, nextHop, parseTraceparent } from './traceparent.ts';

/** The deadline of work that nobody waits for. */
const DEADLINE_MS = 20_000;

/** The origin of what the current request or job writes. Undefined outside of requests and jobs. */
export function currentOrigin(): Origin | undefined {
  const requestId = requestContext.current()?.requestId;
  if (requestId === undefined) return undefined;
  const trace = currentTrace();
  return trace ? { requestId, traceparent: formatTraceparent(trace) } : { requestId };
}

/**
 * Runs work that a request has caused and that runs after it: a job, or the delivery of a message. Its log lines have the id of the
 * request, and its outgoing calls continue the trace. `name` is the name of its span. The deadline is that of its transactions.
 */
export function continueFrom<T>(
  origin: Origin,
  name: string,
  work: () => Promise<T>,
  deadlineAt = currentDeadline(),
): Promise<T> {
  const { requestId, traceparent } = origin;
  const parent = parseTraceparent(traceparent);
  return requestContext.run({ requestId, deadlineAt, trace: parent && nextHop(parent) }, () =>
    inSpan(name, () => ({ kind: SpanKind.CONSUMER, parent, attributes: { 'tribina.request_id': requestId } }), work),
  );
}

function currentDeadline(): number {
  return requestContext.current()?.deadlineAt ?? Date.now() + DEADLINE_MS;
}

/** The header that gives a call to one of our own services the id of the current request. */
export function requestIdHeader(): Record<string, string> {
  const requestId = requestContext.current()?.requestId;
  return requestId === undefined ? {} : { 'x-request-id': requestId };
}
