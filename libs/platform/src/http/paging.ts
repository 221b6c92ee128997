import { z } from 'zod';
import { RequestRefused } from './request-refused.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Values of a query are text; "03" and "1e2" are not numbers here. */
const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().max(100))
  .default(20);

/** The query of every list; a list with filters extends it. Parameters it does not name are ignored. */
export const pageQuery = z.object({
  limit: limit.meta({ description: 'At most so many, 1 to 100' }),
  cursor: z
    .string()
    .refine((cursor) => read(cursor) !== undefined, 'is not a cursor of ours')
    .optional()
    .meta({ description: 'next_cursor of the page before' }),
});
export type PageQuery = z.output<typeof pageQuery>;

/** Opaque to clients: what is in it may change. It names the last item they have seen. */
export function encodeCursor(lastId: string): string {
  return Buffer.from(lastId).toString('base64url');
}

/** The id behind a cursor; always a UUID, so that it can be handed to the database. */
export function decodeCursor(cursor: string): string;
export function decodeCursor(cursor: string | undefined): string | undefined;
export function decodeCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = read(cursor);
  if (id === undefined) {
    throw new RequestRefused('VALIDATION_FAILED', {
      detail: 'The cursor is not one of ours.',
      errors: [{ path: 'cursor', message: 'is not a cursor of ours' }],
    });
  }
  return id;
}

function read(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  return uuid.test(id) && encodeCursor(id) === cursor ? id : undefined;
}

export interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
}

/** Takes up to one item more than was asked for: its presence tells that there is a next page. */
export function page<T, V>(found: readonly T[], limit: number, view: (item: T) => V, idOf: (item: T) => string): Page<V> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(view), next_cursor: found.length > limit && last !== undefined ? encodeCursor(idOf(last)) : null };
}
