/** A sentence that is true of the database at any moment, and the query that looks whether it is. */
export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** About no match in particular: left out when only one is looked at. */
  readonly isGlobal?: true;
  /**
   * One row for each thing looked at: the ids that name it, and `problem`, which is null when nothing is wrong with it. $1
   * is the match, or null for all of them; $2 the moment that decides what has expired. Sets joined by hash, as all of a
   * table is read anyway: an index walked 120,000 times is slower than the table read once.
   */
  readonly sql: string;
}

/** With its type: an unknown minus an interval would be taken for an interval. */
export const AS_OF = `$2::timestamptz`;

export const ofMatch = (column: string): string => `($1::uuid is null or ${column} = $1)`;

/** Lets somebody in. */
export const lives = (ticket: string): string => `${ticket}.status in ('valid', 'used')`;

/** When a hold ends. A time that has been in Node lost its microseconds: the seat's may, its reservation's need not have. */
export const endOf = (held: string): string => `date_trunc('milliseconds', ${held}.expires_at)`;

/** Claims its seats: an expired hold does not, whether the sweeper has been there or not. */
export const isLive = (reservation: string): string =>
  `(${reservation}.status in ('held', 'ordered') and ${endOf(reservation)} > ${AS_OF})`;
