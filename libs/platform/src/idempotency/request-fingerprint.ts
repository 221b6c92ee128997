import { hash } from 'node:crypto';

/** The format of an idempotency key: a UUID v4 as 32 lowercase hex digits, without hyphens. */
const KEY_FORMAT = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/** True if the header value is a valid idempotency key. */
export function isIdempotencyKey(text: string): boolean {
  return KEY_FORMAT.test(text);
}

/** Returns JSON with sorted members and without white space. Two bodies with the same content get the same text. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  // This runs for every request. String concatenation allocates less than building arrays and joining them.
  for (const name of Object.keys(members).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(members[name])}`;
  return `{${text}}`;
}

/** Number of hex digits of a fingerprint. Half of a SHA-256 is enough to tell the requests of one key apart. */
const FINGERPRINT_DIGITS = 32;

/** Returns a hash of caller, method, path and body. Two requests with the same fingerprint are the same request. */
export function fingerprintOf(request: { userId: string; method: string; path: string; body: unknown }): string {
  const body = request.body === undefined ? '' : canonicalJson(request.body);
  const text = `${request.userId}\n${request.method}\n${request.path}\n${body}`;
  return hash('sha256', text).slice(0, FINGERPRINT_DIGITS);
}
