import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { newId } from './ids.ts';

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }
}

export class TimeOrderedIds extends Ids {
  next(): string {
    return newId();
  }
}
