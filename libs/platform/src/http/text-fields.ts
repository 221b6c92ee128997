import { z } from 'zod';

/**
 * Control characters (PostgreSQL stores no NUL), half of a surrogate pair, line separators, and the marks that turn the
 * direction of everything that follows.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
/** No script stacks more than a few marks on a letter; a hundred of them cover the lines above and below. */
const PILED_MARKS = /\p{M}{9,}/u;

/** A person's name as it will stand on a ticket and in a mail. */
export const personName = z
  .string()
  .normalize('NFC')
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine((name) => !UNPRINTABLE.test(name) && !PILED_MARKS.test(name), 'contains characters no name has');

export const emailAddress = z.email('is not an e-mail address').max(254, 'must have at most 254 characters');

/** An id as callers write it, in whatever case; from here on in lower case, as the database says it. */
export const givenId = z.guid('is not a UUID').toLowerCase();

/** A line an operator writes: a name, a reason. */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (text) => text.isWellFormed() && text.trim() === text && !/\p{Cc}/u.test(text),
      'must be plain text without spaces around it',
    );
