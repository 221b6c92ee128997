import { hasInvisibleCharacters, mixesScripts } from '#domain/shared/person-names';
import { z } from 'zod';

/**
 * Matches characters that are not allowed in a name: control characters (PostgreSQL cannot store a NUL), half of a surrogate
 * pair, line separators, and marks that change the text direction.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
/** Matches nine or more combining marks in a row. No script needs so many, and they would cover the lines above and below. */
const STACKED_MARKS = /\p{M}{9,}/u;

/** Matches a text of spaces, joiners and other characters that nobody sees: it would look empty in a list. */
const INVISIBLE = /^[\p{White_Space}\p{C}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/** A person's name, as it is printed on a ticket and in a mail. */
export const personName = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine((name) => !UNPRINTABLE.test(name) && !STACKED_MARKS.test(name), 'contains characters that are not allowed in a name')
  .refine((name) => !INVISIBLE.test(name), 'must not be empty')
  .refine((name) => !hasInvisibleCharacters(name), 'contains a character that nobody can see')
  .refine((name) => !mixesScripts(name), 'must not have letters of different scripts in one word');

/** An e-mail address from a caller. */
export const emailAddress = z.email('is not an e-mail address').max(254, 'must have at most 254 characters');

/** A UUID from a caller, in upper or lower case. It is converted to lower case, as the database returns ids. */
export const uuidField = z.guid('is not a UUID').toLowerCase();

/** A text of one line that an operator or partner writes, for example a name or a reason. Fans read some of them, also in mails. */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (text) => text.trim() === text && !UNPRINTABLE.test(text) && !INVISIBLE.test(text),
      'must be plain text without spaces around it',
    );

/** What an operator types to search for, as a query parameter. */
export const searchText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be plain text')
    .optional();

/** A list of at least one id, without repetitions. `twice` is the message about an id that is listed twice. */
export const idList = <Id extends z.ZodType>(id: Id, max: number, twice: string) =>
  z
    .array(id)
    .min(1)
    .max(max)
    .refine((ids) => new Set(ids).size === ids.length, twice);
