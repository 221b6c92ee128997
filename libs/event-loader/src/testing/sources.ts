import type { IdOrder } from '../core/event.ts';

export function sourceNamed(name: string, more: { overlap?: number; ids?: IdOrder } = {}) {
  return { name, ids: 'numbers' as IdOrder, overlap: 0, ...more };
}

/** So many events with ascending ids. */
export function eventsFrom(first: number, count: number): { id: number; payload: { n: number } }[] {
  return Array.from({ length: count }, (_, index) => ({ id: first + index, payload: { n: first + index } }));
}
