import type { EndpointRules } from './endpoint.ts';
import { rowOf, type ErrorCode } from './error-catalogue.ts';
import { problemName } from './problem-schemas.ts';

interface DocumentedRoute {
  readonly method: string;
  /** With its parameters as `{name}`. */
  readonly path: string;
  readonly rules: EndpointRules;
  readonly needsKey: boolean;
}

/** Every call may meet these: an unreadable request, or a service that cannot answer now. */
const ANY_CALL: readonly ErrorCode[] = ['VALIDATION_FAILED', 'DEPENDENCY_UNAVAILABLE', 'LOCK_TIMEOUT', 'SHUTTING_DOWN'];
const KEY: readonly ErrorCode[] = [
  'IDEMPOTENCY_KEY_REQUIRED',
  'IDEMPOTENCY_KEY_INVALID',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
];

/**
 * The codes a call may be refused with: those that follow from its rules, and those it declares (`refusals`). What the connection is
 * refused with (408, 431) and defects (500) belong to no call.
 */
export function refusalsOf({ method, path, rules, needsKey }: DocumentedRoute): readonly ErrorCode[] {
  const isWrite = method !== 'GET';
  const takesJson = isWrite && (rules.body ?? 'json') === 'json';
  const codes: (ErrorCode | false | readonly ErrorCode[])[] = [
    ANY_CALL,
    rules.access !== 'public' && 'UNAUTHENTICATED',
    (rules.access === 'ops' || rules.access === 'gate') && 'FORBIDDEN',
    path.includes('{') && 'URI_TOO_LONG',
    isWrite && ['PAYLOAD_TOO_LARGE', 'OUTCOME_UNKNOWN'],
    takesJson && 'UNSUPPORTED_MEDIA_TYPE',
    needsKey && KEY,
    (!rules.noAddressLimit || rules.fanLimit === true) && 'RATE_LIMITED',
    rules.refusals ?? [],
  ];
  return [...new Set(codes.flatMap((code) => code || []))].sort();
}

/** The answers of these codes, one for each status; which of its codes it is `code` says. */
export function refusalResponses(codes: readonly ErrorCode[]): Record<string, { description: string; content: object }> {
  const statuses = [...new Set(codes.map((code) => rowOf(code).status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => rowOf(code).status === status);
      const description = ofStatus.map((code) => `\`${code}\`: ${rowOf(code).title}`).join('. ');
      return [String(status), { description, content: { 'application/problem+json': { schema: oneOfProblems(ofStatus) } } }];
    }),
  );
}

function oneOfProblems(codes: readonly ErrorCode[]): object {
  const pointers = codes.map((code) => `#/components/schemas/${problemName(code)}`);
  const [only, ...others] = pointers;
  if (others.length === 0) return { $ref: only };
  const mapping = Object.fromEntries(codes.map((code, index) => [code, pointers[index]]));
  return { oneOf: pointers.map(($ref) => ({ $ref })), discriminator: { propertyName: 'code', mapping } };
}
