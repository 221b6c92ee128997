/** The only source of time for use cases. Whether a hold is alive is decided on the database's clock, not on this one. */
export abstract class Clock {
  abstract now(): Date;
}
