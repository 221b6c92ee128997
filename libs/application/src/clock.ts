/** The only clock of use cases. Not used for the expiry of holds: the database's clock decides that. */
export abstract class Clock {
  abstract now(): Date;
}
