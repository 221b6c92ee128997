/*
 * SQL conditions for the rule "the seat of an expired hold is free", by the database's clock. A hold ends at `expires_at`, even
 * if no expiry run has ended it yet. `isSeatFree` (libs/domain/src/purchase) is the same rule in TypeScript. The tests of both
 * use the cases of seat-is-free.cases.ts.
 */

/** SQL condition: the seat is free. `seats` is the name or alias of the table `seats` in the statement. */
export const seatIsFree = (seats: string): string =>
  `(${seats}.status = 'available' or (${seats}.status = 'held' and ${seats}.expires_at <= now()))`;

/** SQL condition: the seat is held, and the hold has not expired. `seats`: see `seatIsFree`. */
export const seatIsHeld = (seats: string): string => `(${seats}.status = 'held' and ${seats}.expires_at > now())`;
