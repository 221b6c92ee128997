/** A statement that must be true of the database at every moment, and the query that checks it. */
export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** True if the invariant is not about a single match. `verify --match` skips it. */
  readonly isGlobal?: true;
  /**
   * Returns one row for each checked object: its ids, and `problem`, which is null if the object is correct. $1 is the match, or
   * null for all matches. $2 is the time that decides what has expired. The query should join whole tables by hash: reading a
   * table once is faster than 120,000 index lookups.
   */
  readonly sql: string;
}

/**
 * SQL for the time that decides what has expired. The cast is needed: without it PostgreSQL reads `$2 - interval '1 hour'` as an
 * interval minus an interval.
 */
export const AS_OF = `$2::timestamptz`;

/** SQL condition: the column is the match $1, or all matches are checked ($1 is null). */
export const ofMatch = (column: string): string => `($1::uuid is null or ${column} = $1)`;

/** SQL condition: the ticket is valid or used. Such a ticket is called living. */
export const isLivingTicket = (ticket: string): string => `${ticket}.status in ('valid', 'used')`;

/**
 * SQL for the time when a hold ends, cut to milliseconds. Node cuts microseconds off, so the end that is stored with a seat and the
 * end that is stored with its reservation may differ by less than a millisecond.
 */
export const holdEnd = (held: string): string => `date_trunc('milliseconds', ${held}.expires_at)`;

/** SQL condition: the reservation is a living hold. An expired hold is not living, even if its status has not been updated yet. */
export const isLivingHold = (reservation: string): string =>
  `(${reservation}.status in ('held', 'ordered') and ${holdEnd(reservation)} > ${AS_OF})`;
