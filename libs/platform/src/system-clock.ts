import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { newId } from './ids.ts';

/** The clock of this machine. */
export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }
}

/** Ids of UUID version 7. */
export class TimeOrderedIds extends Ids {
  next(): string {
    return newId();
  }
}
