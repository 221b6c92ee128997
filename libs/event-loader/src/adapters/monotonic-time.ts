import { LoaderTime } from '../core/ports.ts';

/** The loader's clock in production: the monotonic clock of the process, which a change of the system time does not move. */
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
