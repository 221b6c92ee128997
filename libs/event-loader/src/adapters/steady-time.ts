import { LoaderTime } from '../core/ports.ts';

/** The process's own clock, which no change of the machine's moves. */
export class SteadyTime extends LoaderTime {
  now(): number {
    return performance.now();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  async within(ms: number, work: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
    return Promise.race([work.then(() => true), isLate]).finally(() => clearTimeout(timer));
  }
}
