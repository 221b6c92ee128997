import type { BadEvent, Event, Source } from './event.ts';
import type { Batch, FetchResult } from './ports.ts';

/**
 * Upper limit of the counted gaps. A source may jump from id 1 to 2^63, and a sum of such gaps would overflow the bigint
 * column.
 */
const MAX_GAPS = 1e12;

type NormalizedAnswer = Pick<Batch, 'to' | 'events' | 'unrequested' | 'bad' | 'duplicates' | 'gaps'>;

/** The id after which to fetch: the cursor, or `overlap` ids below it for sources where lower ids may appear later. */
export function fetchStart({ ids, overlap }: Source, cursor: string | undefined): string | undefined {
  if (overlap === 0 || ids === 'listed' || cursor === undefined) return cursor;
  const from = BigInt(cursor) - BigInt(overlap);
  return from > 0n ? String(from) : undefined;
}

/**
 * Turns an answer into a batch for the store: sorted by id, each id once, without events that were not requested, at most `limit`
 * entries. The cursor moves to the last id even if that event is bad, so that a bad event is fetched only once.
 */
export function normalizeAnswer(
  source: Source,
  cursor: string | undefined,
  fetched: FetchResult,
  limit: number,
): NormalizedAnswer {
  const start = fetchStart(source, cursor);
  const isRequested = ({ id }: Event): boolean => source.ids === 'listed' || isAfter(id, start);
  const sorted = source.ids === 'numbers' ? fetched.events.toSorted((a, b) => compareIds(a.id, b.id)) : fetched.events;
  const { unique, duplicates, changed } = withoutDuplicates(sorted);
  const requested = unique.filter((event) => isRequested(event));
  const unrequested = unique.filter((event) => !isRequested(event)).slice(0, limit);
  const allBad = [...fetched.bad, ...changed];
  // If there are more entries than `limit`, those with the lowest ids are kept, good and bad events counted together. Otherwise
  // the cursor would skip dropped events with lower ids.
  const last = source.ids === 'numbers' ? lastIdWithin(limit, [...requested, ...allBad]) : undefined;
  const events = requested.filter(({ id }) => last === undefined || !isAfter(id, last)).slice(0, limit);
  const bad = allBad.filter(({ id }) => id === undefined || last === undefined || !isAfter(id, last)).slice(0, limit);
  const badIds = bad.flatMap(({ id }) => id ?? []);
  const to =
    source.ids === 'listed' ? (fetched.lastId ?? cursor) : greatestId([...events.map(({ id }) => id), ...badIds], cursor);
  return { to, events, unrequested, bad, duplicates, gaps: source.ids === 'numbers' ? gapsIn(cursor, events, badIds) : 0 };
}

/** The id of entry number `limit` in ascending order; undefined if there are not more entries than `limit`. */
function lastIdWithin(limit: number, entries: readonly { readonly id: string | undefined }[]): string | undefined {
  if (entries.length <= limit) return undefined;
  const ids = entries.flatMap(({ id }) => id ?? []).toSorted(compareIds);
  return ids.length > limit ? ids[limit - 1] : undefined;
}

/**
 * Ids have no leading zeros, so the longer number is the greater one. Comparing the lengths first avoids 1,000 BigInt conversions
 * in each poll.
 */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function isAfter(id: string, cursor: string | undefined): boolean {
  return cursor === undefined || compareIds(id, cursor) > 0;
}

/**
 * Keeps the first event of each id. A later event with the same id is a duplicate if its content is the same, and otherwise a
 * violation.
 */
function withoutDuplicates(events: readonly Event[]): { unique: Event[]; duplicates: number; changed: BadEvent[] } {
  const seen = new Map<string, Event>();
  const changed: BadEvent[] = [];
  let duplicates = 0;
  for (const event of events) {
    const first = seen.get(event.id);
    if (!first) seen.set(event.id, event);
    else if (canonical(first.payload) === canonical(event.payload)) duplicates += 1;
    else changed.push(violation(event));
  }
  return { unique: [...seen.values()], duplicates, changed };
}

function violation({ id, payload }: Event): BadEvent {
  const detail = 'the same answer has this id twice, with different contents';
  return { id, code: 'EVENT_IMMUTABILITY_VIOLATION', detail, content: JSON.stringify(payload).slice(0, 2000) };
}

/** JSON with sorted keys, so that the order of fields does not matter in a comparison. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function greatestId(ids: readonly string[], cursor: string | undefined): string | undefined {
  return ids.reduce((last, id) => (isAfter(id, last) ? id : last), cursor);
}

function gapsIn(cursor: string | undefined, events: readonly Event[], badIds: readonly string[]): number {
  const fresh = new Set([...events.map(({ id }) => id), ...badIds].filter((id) => isAfter(id, cursor)));
  const last = greatestId([...fresh], cursor);
  if (last === undefined) return 0;
  return Math.min(Number(BigInt(last) - BigInt(cursor ?? 0)) - fresh.size, MAX_GAPS);
}
