import { LoaderTime } from '../core/ports.ts';

/** The monotonic clock of the process: a change of the system time does not move it. */
export class MonotonicTime extends LoaderTime {
  now(): number {
    return performance.now();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  async finishesWithin(ms: number, work: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
    return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer));
  }
}
