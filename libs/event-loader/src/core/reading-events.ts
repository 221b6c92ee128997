import { Event, type BadEvent, type IdOrder, type Payload } from './event.ts';
import type { FetchResult } from './ports.ts';

/** One entry of an answer, before it is checked. */
export interface UncheckedEntry {
  readonly id: unknown;
  readonly payload: unknown;
}

const MAX_ID = 2n ** 63n - 1n;
const MAX_PAYLOAD_CHARACTERS = 1024 * 1024;
const MAX_PAYLOAD_DEPTH = 100;
const MAX_CONTENT_CHARACTERS = 2000;
/** At most this many entries of one answer are read: ten times the requested limit. */
const MAX_ENTRIES = 10_000;

/**
 * Separates the valid events of an answer from the bad entries. A bad entry does not affect the other entries. Only the first
 * 10,000 entries are read, because an answer of 8 MB can hold four million entries.
 */
export function readEvents(offered: readonly UncheckedEntry[], ids: IdOrder): FetchResult {
  const candidates = offered.slice(0, MAX_ENTRIES);
  const events: Event[] = [];
  const bad: BadEvent[] = [];
  let lastId: string | undefined;
  for (const candidate of candidates) {
    const id = readId(candidate.id, ids);
    lastId = id ?? lastId;
    const fault = id === undefined ? 'the id is not valid' : payloadFault(candidate.payload);
    if (id !== undefined && fault === undefined) events.push(new Event(id, candidate.payload as Payload));
    else bad.push(badEvent(id, fault ?? '', candidate));
  }
  const hasMore = offered.length > candidates.length;
  return { events, bad, ...(lastId === undefined ? {} : { lastId }), ...(hasMore ? { hasMore } : {}) };
}

/** A bad event with the code EVENT_INVALID and its content, truncated to 2,000 characters. */
export function badEvent(id: string | undefined, detail: string, content: unknown): BadEvent {
  const text = typeof content === 'string' ? content : textOf(content);
  return { id, code: 'EVENT_INVALID', detail, content: text.slice(0, MAX_CONTENT_CHARACTERS) };
}

/**
 * Returns the id as text, or undefined if it is not valid. A JSON number above 2^53 is not valid: JSON.parse rounds it, so the
 * value may not be the id that was sent.
 */
function readId(id: unknown, order: IdOrder): string | undefined {
  if (order === 'listed') return typeof id === 'string' && /^[\w.:-]{1,255}$/.test(id) ? id : undefined;
  if (typeof id === 'number') return Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
  return typeof id === 'string' && /^[1-9]\d{0,18}$/.test(id) && BigInt(id) <= MAX_ID ? id : undefined;
}

/**
 * Matches the JSON escapes of NUL and of a lone surrogate: valid JSON, but PostgreSQL cannot store them. The backslash of the
 * escape must not be escaped itself.
 */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

function payloadFault(payload: unknown): string | undefined {
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return 'the payload is not an object';
  if (depthOf(payload) > MAX_PAYLOAD_DEPTH) return `the payload is nested more than ${MAX_PAYLOAD_DEPTH} deep`;
  const text = JSON.stringify(payload);
  if (text.length > MAX_PAYLOAD_CHARACTERS) return `the payload has more than ${MAX_PAYLOAD_CHARACTERS} characters`;
  return UNSTORABLE.test(text) ? 'the payload has characters that cannot be stored' : undefined;
}

function depthOf(value: object): number {
  let level: object[] = [value];
  for (let depth = 1; depth <= MAX_PAYLOAD_DEPTH; depth += 1) {
    const below: object[] = [];
    for (const item of level) {
      for (const key in item) {
        const part = (item as Record<string, unknown>)[key];
        if (part !== null && typeof part === 'object') below.push(part);
      }
    }
    if (below.length === 0) return depth;
    level = below;
  }
  return MAX_PAYLOAD_DEPTH + 1;
}

function textOf(content: unknown): string {
  try {
    return JSON.stringify(content) ?? String(content);
  } catch {
    return 'nested too deep to be shown';
  }
}
