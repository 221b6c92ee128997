import type { BadEvent, Event, Source } from './event.ts';
import type { Batch, Fetched } from './ports.ts';

/** A source may leap from 1 to 2^63; a sum of such leaps fits no column, and tells nobody more than this. */
const MOST_GAPS = 1e12;

type Sifted = Pick<Batch, 'to' | 'events' | 'unasked' | 'bad' | 'repeated' | 'gaps'>;

/** Where to ask from: at the cursor, or as far below as the source's low ids may come late. */
export function askFrom({ ids, overlap }: Source, cursor: string | undefined): string | undefined {
  if (overlap === 0 || ids === 'listed' || cursor === undefined) return cursor;
  const from = BigInt(cursor) - BigInt(overlap);
  return from > 0n ? String(from) : undefined;
}

/**
 * Puts an answer in order: ascending, each id once, nothing that was not asked for, and the cursor behind the last of it,
 * also where that one is bad, so that a bad event is met once.
 */
export function sift(source: Source, cursor: string | undefined, fetched: Fetched, limit: number): Sifted {
  const isBeyond = source.ids === 'numbers' ? beyond : () => true;
  const inOrder = source.ids === 'numbers' ? fetched.events.toSorted((a, b) => compare(a.id, b.id)) : fetched.events;
  const { once, repeated, changed } = withoutRepetitions(inOrder);
  const askedFrom = askFrom(source, cursor);
  const asked = once.filter(({ id }) => isBeyond(id, askedFrom));
  const unasked = once.filter(({ id }) => !isBeyond(id, askedFrom)).slice(0, limit);
  const allBad = [...fetched.bad, ...changed];
  // The lowest, good and bad together: were others kept, the cursor would pass over those that were not.
  const last = source.ids === 'numbers' ? lastWithin(limit, [...asked, ...allBad]) : undefined;
  const events = asked.filter(({ id }) => last === undefined || !beyond(id, last)).slice(0, limit);
  const bad = allBad.filter(({ id }) => id === undefined || last === undefined || !beyond(id, last)).slice(0, limit);
  const badIds = bad.flatMap(({ id }) => id ?? []);
  const to = source.ids === 'listed' ? (fetched.lastId ?? cursor) : greatest([...events.map(({ id }) => id), ...badIds], cursor);
  return { to, events, unasked, bad, repeated, gaps: source.ids === 'numbers' ? gapsIn(cursor, events, badIds) : 0 };
}

/** The id up to which there are as many as asked for; undefined where there are no more than that. */
function lastWithin(limit: number, entries: readonly { readonly id: string | undefined }[]): string | undefined {
  if (entries.length <= limit) return undefined;
  const ids = entries.flatMap(({ id }) => id ?? []).toSorted(compare);
  return ids.length > limit ? ids[limit - 1] : undefined;
}

function compare(a: string, b: string): number {
  // Without leading zeros the longer number is the greater one; no BigInt for a thousand ids a turn.
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function beyond(id: string, cursor: string | undefined): boolean {
  return cursor === undefined || compare(id, cursor) > 0;
}

/** The first of each id stays. A later one with the same content is noise, one with another content a violation. */
function withoutRepetitions(events: readonly Event[]): { once: Event[]; repeated: number; changed: BadEvent[] } {
  const seen = new Map<string, Event>();
  const changed: BadEvent[] = [];
  let repeated = 0;
  for (const event of events) {
    const first = seen.get(event.id);
    if (!first) seen.set(event.id, event);
    else if (canonical(first.payload) === canonical(event.payload)) repeated += 1;
    else changed.push(violation(event));
  }
  return { once: [...seen.values()], repeated, changed };
}

function violation({ id, payload }: Event): BadEvent {
  const detail = 'the same answer has this id twice, with different contents';
  return { id, code: 'EVENT_IMMUTABILITY_VIOLATION', detail, content: JSON.stringify(payload).slice(0, 2000) };
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function greatest(ids: readonly string[], cursor: string | undefined): string | undefined {
  return ids.reduce((last, id) => (beyond(id, last) ? id : last), cursor);
}

function gapsIn(cursor: string | undefined, events: readonly Event[], badIds: readonly string[]): number {
  const fresh = new Set([...events.map(({ id }) => id), ...badIds].filter((id) => beyond(id, cursor)));
  const last = greatest([...fresh], cursor);
  if (last === undefined) return 0;
  return Math.min(Number(BigInt(last) - BigInt(cursor ?? 0)) - fresh.size, MOST_GAPS);
}
