/*
 * "An expired hold is free", once for all SQL, by the database's clock. A hold ends at `expires_at`, whenever the sweeper comes.
 * `isSeatFree` is the same rule in the domain; both are tested with the cases of seat-is-free.cases.ts.
 */

/** `seats` is the name or alias of the table `seats` in the statement. */
export const seatIsFree = (seats: string): string =>
  `(${seats}.status = 'available' or (${seats}.status = 'held' and ${seats}.expires_at <= now()))`;

export const seatIsHeld = (seats: string): string => `(${seats}.status = 'held' and ${seats}.expires_at > now())`;
