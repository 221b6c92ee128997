import { idInCursor, type Page } from '#contracts/paging';
import { RequestRefused } from './request-refused.ts';

/** Makes the cursor of the next page from the id of the last item of this page. Clients must treat a cursor as opaque. */
export function encodeCursor(lastId: string): string {
  return Buffer.from(lastId).toString('base64url');
}

/** Returns the id in a cursor. It is always a UUID, so it can be passed to the database. */
export function decodeCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = idInCursor(cursor);
  if (id === undefined) {
    throw new RequestRefused('VALIDATION_FAILED', {
      detail: 'The cursor is not one of ours.',
      errors: [{ path: 'cursor', message: 'is not a cursor of ours' }],
    });
  }
  return id;
}

/**
 * Builds the answer to a list request. `found` has up to `limit + 1` items: the extra item shows that there is a next page.
 * `view` renders an item.
 */
export function page<T, V>(found: readonly T[], limit: number, view: (item: T) => V, idOf: (item: T) => string): Page<V> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(view), next_cursor: found.length > limit && last !== undefined ? encodeCursor(idOf(last)) : null };
}
