import { hash } from 'node:crypto';

/** UUID v4, lowercase, 32 hex digits, nothing around it. */
const KEY_FORMAT = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

export function isIdempotencyKey(text: string): boolean {
  return KEY_FORMAT.test(text);
}

/** JSON with its members in one order, so that two spellings of one body are one body. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  // Of every request: written so that it leaves nothing behind but the text.
  for (const name of Object.keys(members).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(members[name])}`;
  return `{${text}}`;
}

/** Half of a SHA-256 tells apart whatever one caller may send under one key. */
const DIGITS = 32;

/** What makes a request the same request: who, what, where, with which body. */
export function fingerprintOf(request: { userId: string; method: string; path: string; body: unknown }): string {
  const body = request.body === undefined ? '' : canonicalJson(request.body);
  const text = `${request.userId}\n${request.method}\n${request.path}\n${body}`;
  return hash('sha256', text).slice(0, DIGITS);
}
