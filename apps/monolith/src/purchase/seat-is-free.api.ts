/*
 * The rule "the seat of an expired hold is free", for all SQL, on the database's clock. The seat is free from `expires_at` on,
 * also before the expiry sweeper ends the hold. `isSeatFree` is the same rule in the domain; the tests of the SQL rule and of
 * `isSeatFree` use the same cases (seat-is-free.cases.ts).
 *
 * A seat of a quota is never free for the public: without a hold it is `blocked`.
 */

/** SQL condition: the seat is free for the public. `seats` is the name or alias of the table `seats` in the statement. */
export const seatIsFree = (seats: string): string =>
  `(${seats}.status = 'available' or (${seats}.status = 'held' and ${seats}.expires_at <= now() and ${seats}.quota_id is null))`;

/** SQL condition: the seat is held, and the hold has not expired. */
export const seatIsHeld = (seats: string): string => `(${seats}.status = 'held' and ${seats}.expires_at > now())`;

/** SQL condition: the public may get the seat back, because a hold of the public may end unpaid. */
export const seatIsHeldByPublic = (seats: string): string => `(${seatIsHeld(seats)} and ${seats}.quota_id is null)`;

/** SQL condition: nobody holds or has bought the seat of a quota. It may be bound to an invitation. */
export const seatIsUnusedInQuota = (seats: string): string => `(${seats}.quota_id is not null and ${seatIsUnused(seats)})`;

/** SQL condition: the same for a seat that is known to be in a quota. */
export const seatIsUnused = (seats: string): string =>
  `(${seats}.status = 'blocked' or (${seats}.status = 'held' and ${seats}.expires_at <= now()))`;

/** SQL: the status that a seat gets when its hold or its order ends. */
export const freedStatus = (seats: string): string => `case when ${seats}.quota_id is null then 'available' else 'blocked' end`;

/** SQL: the status of the seat for readers, who see an expired hold as ended. */
export const currentStatus = (seats: string): string =>
  `case when ${seats}.status = 'held' and ${seats}.expires_at <= now() then ${freedStatus(seats)} else ${seats}.status end`;
