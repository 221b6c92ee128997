import { randomBytes } from 'node:crypto';

/** A position in a trace: the trace, and the span (one step of one service) in which the code runs now. */
export interface TracePosition {
  readonly traceId: string;
  readonly spanId: string;
  /** The flags of W3C Trace Context as two hex digits. `01`: the caller records this trace. */
  readonly flags: string;
}

/** Version, trace id, span id, flags. A version after 00 may append further fields, which we ignore. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/** Reads a `traceparent` (W3C Trace Context, level 1). Undefined if it is missing or not valid. */
export function parseTraceparent(header: unknown): TracePosition | undefined {
  const match = typeof header === 'string' ? TRACEPARENT.exec(header) : null;
  if (!match) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match;
  const isKnownForm = version === '00' ? more === undefined : version !== 'ff';
  if (!isKnownForm || ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, flags };
}

/** The position as the value of a `traceparent` header. */
export function formatTraceparent({ traceId, spanId, flags }: TracePosition): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** The next step after `caller` in the same trace. */
export function nextHop({ traceId, flags }: TracePosition): TracePosition {
  return { traceId, spanId: randomBytes(8).toString('hex'), flags };
}
