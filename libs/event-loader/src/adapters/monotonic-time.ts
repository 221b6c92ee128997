import { waitAtMost } from '#platform/wait-at-most';
import { setTimeout } from 'node:timers/promises';
import { LoaderTime } from '../core/ports.ts';

/** The loader's clock in production: the monotonic clock of the process, which a change of the system time does not move. */
export class MonotonicTime extends LoaderTime {
  now(): number {
    return performance.now();
  }

  sleep(ms: number): Promise<void> {
    return setTimeout(ms);
  }

  finishesWithin(ms: number, work: Promise<void>): Promise<boolean> {
    const finished = work.then(() => true);
    return waitAtMost(ms, finished, false);
  }
}
