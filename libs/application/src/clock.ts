/** The only clock of use cases. The expiry of holds does not use it: the clock of the database decides that. */
export abstract class Clock {
  abstract now(): Date;
}
