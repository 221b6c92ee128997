import { Event, type BadEvent, type IdOrder, type Payload } from './event.ts';
import type { Fetched } from './ports.ts';

/** What a source sent in the place of an event. */
export interface Candidate {
  readonly id: unknown;
  readonly payload: unknown;
}

const GREATEST_NUMBER = 2n ** 63n - 1n;
const GREATEST_PAYLOAD = 1024 * 1024;
const DEEPEST_PAYLOAD = 100;
const CONTENT_KEPT = 2000;
/** Ten times what is asked for. */
const MOST_READ = 10_000;

/**
 * Reads what it can; one that is not an event does not spoil the others. Of an answer of four million entries, which 8 MB can
 * hold, the first ten thousand.
 */
export function readEvents(offered: readonly Candidate[], ids: IdOrder): Fetched {
  const candidates = offered.slice(0, MOST_READ);
  const events: Event[] = [];
  const bad: BadEvent[] = [];
  let lastId: string | undefined;
  for (const candidate of candidates) {
    const id = readId(candidate.id, ids);
    lastId = id ?? lastId;
    const fault = id === undefined ? 'the id is not one' : payloadFault(candidate.payload);
    if (id !== undefined && fault === undefined) events.push(new Event(id, candidate.payload as Payload));
    else bad.push(badEvent(id, fault ?? '', candidate));
  }
  const hasMore = offered.length > candidates.length;
  return { events, bad, ...(lastId === undefined ? {} : { lastId }), ...(hasMore ? { hasMore } : {}) };
}

export function badEvent(id: string | undefined, detail: string, content: unknown): BadEvent {
  const text = typeof content === 'string' ? content : textOf(content);
  return { id, code: 'EVENT_INVALID', detail, content: text.slice(0, CONTENT_KEPT) };
}

/** A number that JSON could not carry exactly is not the number that was sent, so it is refused. */
function readId(id: unknown, order: IdOrder): string | undefined {
  if (order === 'listed') return typeof id === 'string' && /^[\w.:-]{1,255}$/.test(id) ? id : undefined;
  if (typeof id === 'number') return Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
  return typeof id === 'string' && /^[1-9]\d{0,18}$/.test(id) && BigInt(id) <= GREATEST_NUMBER ? id : undefined;
}

/** A character 0 and half a surrogate pair can be written in JSON and stored nowhere: an escape of either, itself not escaped. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

function payloadFault(payload: unknown): string | undefined {
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return 'the payload is not an object';
  if (depthOf(payload) > DEEPEST_PAYLOAD) return `the payload is nested more than ${DEEPEST_PAYLOAD} deep`;
  const text = JSON.stringify(payload);
  if (text.length > GREATEST_PAYLOAD) return `the payload has more than ${GREATEST_PAYLOAD} characters`;
  return UNSTORABLE.test(text) ? 'the payload has characters that cannot be stored' : undefined;
}

function depthOf(value: object): number {
  let level: object[] = [value];
  for (let depth = 1; depth <= DEEPEST_PAYLOAD; depth += 1) {
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
  return DEEPEST_PAYLOAD + 1;
}

function textOf(content: unknown): string {
  try {
    return JSON.stringify(content) ?? String(content);
  } catch {
    return 'too deep to be shown';
  }
}
