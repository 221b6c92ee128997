import { fromBase64Url } from '#domain/shared/base64url';
import { z } from 'zod';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** A cursor is the base64url text of a UUID, which has 36 bytes. */
const CURSOR_LENGTH = 48;

/** Maximum number of items in a page. Query values are text; only plain decimal numbers are accepted, not "03" or "1e2". */
const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().max(100))
  .default(20);

/** The query parameters of every list. A list with filters extends this schema. Unknown parameters are ignored. */
export const pageQuery = z.object({
  limit: limit.meta({ description: 'Maximum number of items, 1 to 100' }),
  cursor: z
    .string()
    .refine((cursor) => idInCursor(cursor) !== undefined, 'is not a cursor of ours')
    .optional()
    .meta({ description: '`next_cursor` of the previous page. Omit it for the first page' }),
});
export type PageQuery = z.output<typeof pageQuery>;

/** One page of a list, with the cursor of the next page. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** The schema of a page of such items. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).meta({ description: 'The items of this page' }),
    next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page. Null on the last page' }),
  });

/** The id in a cursor. Undefined for a text that is not a cursor of ours. */
export function idInCursor(cursor: string): string | undefined {
  const bytes = cursor.length === CURSOR_LENGTH ? fromBase64Url(cursor) : undefined;
  const id = bytes && String.fromCharCode(...bytes);
  return id && uuid.test(id) ? id : undefined;
}
