import type { ErrorCode } from '#contracts/error-catalogue';
import { rowOf } from '#contracts/error-catalogue';
import type { EndpointRules } from './endpoint.ts';

const number = { type: 'integer', minimum: 0 };

/** The response headers of the API (CONTRACT §2: the headers that a page may read), as components of the API description. */
export const responseHeaders = {
  ETag: { description: 'Version of this answer, for `If-None-Match`.', required: true, schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: 'Present if this is the stored answer to an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  Location: { description: 'Path of the created object.', required: true, schema: { type: 'string', format: 'uri-reference' } },
  'RateLimit-Limit': {
    description: 'Requests a minute that the tighter limit allows. Missing if no limit counts the request.',
    schema: number,
  },
  'RateLimit-Remaining': { description: 'Requests that are left now. Missing if no limit counts the request.', schema: number },
  'RateLimit-Reset': {
    description: 'Seconds until all requests are available again. Missing if no limit counts the request.',
    schema: number,
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: number },
  'X-Request-Id': {
    description: 'Id of the request in the log: the one that the caller sent, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[\\w-]{1,64}$' },
  },
} as const;

/** The header `Location` for an operation that sends it with another status than 201. */
export const LOCATION_HEADER = { $ref: '#/components/headers/Location' } as object;

type HeaderName = keyof typeof responseHeaders;

/** What decides about the headers of one response of an operation. */
interface DocumentedResponse {
  readonly status: string;
  readonly rules: EndpointRules;
  readonly needsKey: boolean;
  /** Whether the operation can answer 304. */
  readonly isCacheable: boolean;
  /** The error codes with which this status is answered. */
  readonly codes: readonly ErrorCode[];
}

const RATE_LIMIT: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
/** Statuses of answers that are stored under their idempotency key, besides the successes. */
const STORED_REFUSALS: ReadonlySet<string> = new Set(['404', '409', '410']);

/** The headers of one response of an operation, as references to the components. */
export function headersOf({ status, rules, needsKey, isCacheable, codes }: DocumentedResponse): Record<string, object> {
  const isSuccess = status.startsWith('2');
  const mayWait = codes.some((code) => code === 'RATE_LIMITED' || rowOf(code).retryAfterSeconds !== undefined);
  const names: (HeaderName | false | readonly HeaderName[])[] = [
    'X-Request-Id',
    (!rules.noAddressLimit || rules.fanLimit === true || rules.writeLimit === true) && RATE_LIMIT,
    isCacheable && (status === '200' || status === '304') && 'ETag',
    status === '201' && 'Location',
    mayWait && 'Retry-After',
    needsKey && (isSuccess || STORED_REFUSALS.has(status)) && 'Idempotency-Replayed',
  ];
  return Object.fromEntries(names.flatMap((name) => name || []).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
