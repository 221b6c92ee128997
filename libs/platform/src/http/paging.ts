import { z } from 'zod';
import { RequestRefused } from './request-refused.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Maximum number of items in a page. Query values are text; only plain decimal numbers are accepted, not "03" or "1e2". */
const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().max(100))
  .default(20);

/** Schema of the query parameters of every list. A list with filters extends this schema. Unknown parameters are ignored. */
export const pageQuery = z.object({
  limit: limit.meta({ description: 'Maximum number of items, 1 to 100' }),
  cursor: z
    .string()
    .refine((cursor) => idIn(cursor) !== undefined, 'is not a cursor of ours')
    .optional()
    .meta({ description: 'next_cursor of the previous page' }),
});
export type PageQuery = z.output<typeof pageQuery>;

/** Makes the cursor of the next page from the id of the last item of this page. Clients must treat a cursor as opaque. */
export function encodeCursor(lastId: string): string {
  return Buffer.from(lastId).toString('base64url');
}

/** Returns the id in a cursor. It is always a UUID, so it can be passed to the database. */
export function decodeCursor(cursor: string): string;
export function decodeCursor(cursor: string | undefined): string | undefined;
export function decodeCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = idIn(cursor);
  if (id === undefined) {
    throw new RequestRefused('VALIDATION_FAILED', {
      detail: 'The cursor is not one of ours.',
      errors: [{ path: 'cursor', message: 'is not a cursor of ours' }],
    });
  }
  return id;
}

function idIn(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  return uuid.test(id) && encodeCursor(id) === cursor ? id : undefined;
}

/** One page of a list, as the API answers it. */
export interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
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
