import type { IdOrder } from '../core/event.ts';

/** A source for tests: its ids are numbers, and it has no overlap. */
export function sourceNamed(name: string, more: { overlap?: number; ids?: IdOrder } = {}) {
  return { name, ids: 'numbers' as IdOrder, overlap: 0, ...more };
}

/** `count` events with ascending ids, starting at `first`. */
export function eventsFrom(first: number, count: number): { id: number; payload: { n: number } }[] {
  return Array.from({ length: count }, (_, index) => ({ id: first + index, payload: { n: first + index } }));
}
