/*
 * The rule "the seat of an expired hold is free", for all SQL, on the database's clock. A hold ends at `expires_at`, also before an
 * expiry run ends it. `isSeatFree` is the same rule in the domain. The tests of both use the cases of seat-is-free.cases.ts.
 */

/** `seats` is the name or alias of the table `seats` in the statement. */
export const seatIsFree = (seats: string): string =>
  `(${seats}.status = 'available' or (${seats}.status = 'held' and ${seats}.expires_at <= now()))`;

export const seatIsHeld = (seats: string): string => `(${seats}.status = 'held' and ${seats}.expires_at > now())`;
