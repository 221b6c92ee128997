import type { EndpointRules } from './endpoint.ts';
import { rowOf, type ErrorCode } from '#contracts/error-catalogue';
import { problemName } from '#contracts/problems';
import { rolesWith } from '#contracts/roles';

interface DocumentedRoute {
  readonly method: string;
  /** The path with its parameters as `{name}`. */
  readonly path: string;
  readonly rules: EndpointRules;
  readonly needsKey: boolean;
}

/** Error codes that any call may get: the request is malformed, or the service cannot answer now. */
const COMMON_REFUSALS: readonly ErrorCode[] = ['VALIDATION_FAILED', 'DEPENDENCY_UNAVAILABLE', 'LOCK_TIMEOUT', 'SHUTTING_DOWN'];
const KEY_REFUSALS: readonly ErrorCode[] = [
  'IDEMPOTENCY_KEY_REQUIRED',
  'IDEMPOTENCY_KEY_INVALID',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
];

/**
 * Returns the error codes with which a call may be refused: the codes that follow from the rules of its route, and the codes that
 * the route declares (`refusals`). Refusals of the connection (408, 431) and defects (500) are not listed.
 */
export function refusalsOf({ method, path, rules, needsKey }: DocumentedRoute): readonly ErrorCode[] {
  const isWrite = method !== 'GET';
  const takesJson = isWrite && (rules.body ?? 'json') === 'json';
  const codes: (ErrorCode | false | readonly ErrorCode[])[] = [
    COMMON_REFUSALS,
    rules.access !== 'public' && 'UNAUTHENTICATED',
    rolesWith(rules.access) !== undefined && 'FORBIDDEN',
    path.includes('{') && 'URI_TOO_LONG',
    isWrite && ['PAYLOAD_TOO_LARGE', 'OUTCOME_UNKNOWN'],
    takesJson && 'UNSUPPORTED_MEDIA_TYPE',
    needsKey && KEY_REFUSALS,
    (!rules.noAddressLimit || rules.fanLimit === true) && 'RATE_LIMITED',
    rules.refusals ?? [],
  ];
  return [...new Set(codes.flatMap((code) => code || []))].sort();
}

interface DocumentedRefusal {
  readonly description: string;
  readonly content: Record<string, { schema: Record<string, unknown>; examples: Record<string, object> }>;
}

/** Returns the OpenAPI responses for these codes, one for each status. The member `code` tells codes of the same status apart. */
export function refusalResponses(codes: readonly ErrorCode[]): Record<string, DocumentedRefusal> {
  const statuses = [...new Set(codes.map((code) => rowOf(code).status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => rowOf(code).status === status);
      const description = ofStatus.map((code) => `\`${code}\`: ${rowOf(code).title}`).join('. ');
      return [
        String(status),
        {
          description,
          content: { 'application/problem+json': { schema: oneOfProblems(ofStatus), examples: examplesOf(ofStatus) } },
        },
      ];
    }),
  );
}

/** References to the example of each code. */
function examplesOf(codes: readonly ErrorCode[]): Record<string, object> {
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

function oneOfProblems(codes: readonly ErrorCode[]): Record<string, unknown> {
  const pointers = codes.map((code) => `#/components/schemas/${problemName(code)}`);
  if (pointers.length === 1) return { $ref: pointers[0] };
  const mapping = Object.fromEntries(codes.map((code, index) => [code, pointers[index]]));
  return { oneOf: pointers.map(($ref) => ({ $ref })), discriminator: { propertyName: 'code', mapping } };
}
