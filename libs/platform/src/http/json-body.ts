import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestRefused } from './request-refused.ts';

/**
 * Maximum nesting of a body. Our deepest body has four levels. A body of 100,000 nested brackets would overflow the stack of
 * recursive code.
 */
const MAX_DEPTH = 32;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

function isTooDeep(text: string): boolean {
  // Each level needs an opening and a closing bracket, so most bodies are too short to be too deep.
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (OPENING.has(character) && (depth += 1) > MAX_DEPTH) return true;
    else if (CLOSING.has(character)) depth -= 1;
  }
  return false;
}

/**
 * Matches escapes that may produce a NUL or half of a surrogate pair, which PostgreSQL cannot store. In valid UTF-8 a half can
 * only be written as an escape.
 */
const SUSPICIOUS_ESCAPE = /\\u(0000|d[89a-f])/i;
const UNSTORABLE = /\0|\p{Surrogate}/u;

function isUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return UNSTORABLE.test(value);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, member]) => UNSTORABLE.test(name) || isUnstorable(member));
}

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Returns Fastify's JSON parser, which refuses `__proto__`, with more checks: byte order marks, deep nesting and text that
 * PostgreSQL cannot store are refused.
 */
export function jsonReader(fastify: FastifyInstance): (request: FastifyRequest, text: string, done: Done) => void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  return (request, text, done) => {
    // The parser would skip a byte order mark, but RFC 8259 forbids senders to write one.
    if (text.startsWith('\ufeff'))
      throw new RequestRefused('VALIDATION_FAILED', { detail: 'The body begins with a byte order mark.' });
    if (isTooDeep(text))
      throw new RequestRefused('VALIDATION_FAILED', { detail: `The body is nested deeper than ${MAX_DEPTH} levels.` });
    void parse(request, text, (error, body) => {
      if (!error && SUSPICIOUS_ESCAPE.test(text) && isUnstorable(body)) {
        done(
          new RequestRefused('VALIDATION_FAILED', { detail: 'The body contains a NUL character or half of a surrogate pair.' }),
        );
      } else done(error, body);
    });
  };
}
