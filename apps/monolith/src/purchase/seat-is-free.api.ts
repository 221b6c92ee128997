/*
 * The rule "the seat of an expired hold is free", for all SQL, on the database's clock. The seat is free from `expires_at` on,
 * also before the expiry sweeper ends the hold. `isSeatFree` is the same rule in the domain; the tests of the SQL rule and of
 * `isSeatFree` use the same cases (seat-is-free.cases.ts).
 */

/** SQL condition: the seat is free. `seats` is the name or alias of the table `seats` in the statement. */
export const seatIsFree = (seats: string): string =>
  `(${seats}.status = 'available' or (${seats}.status = 'held' and ${seats}.expires_at <= now()))`;

/** SQL condition: the seat is held, and the hold has not expired. */
export const seatIsHeld = (seats: string): string => `(${seats}.status = 'held' and ${seats}.expires_at > now())`;
