import { hash } from 'node:crypto';

/** UUID v4, lowercase, 32 hex digits, nothing around it. */
const KEY_FORMAT = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

export function isIdempotencyKey(text: string): boolean {
  return KEY_FORMAT.test(text);
}

/** JSON with its members in one order, so that two spellings of one body are one body. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Half of a SHA-256 tells apart whatever one caller may send under one key. */
const DIGITS = 32;

/** What makes a request the same request: who, what, where, with which body. */
export function fingerprintOf(request: { userId: string; method: string; path: string; body: unknown }): string {
  const text = [request.userId, request.method, request.path, request.body === undefined ? '' : canonicalJson(request.body)].join(
    '\n',
  );
  return hash('sha256', text).slice(0, DIGITS);
}
