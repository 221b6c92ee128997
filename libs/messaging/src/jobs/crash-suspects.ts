import type { Cluster, Redis } from 'ioredis';
import { PermanentFailure } from './job-outcomes.ts';

/** The crash count of a job expires one day after its last crash. */
const COUNT_EXPIRY_SECONDS = 86_400;

/**
 * Finds the job that crashes worker processes. When a worker dies, each of the jobs it was doing may be the cause, so all of them
 * become suspects. A suspect runs alone, so that it is the only possible cause of the next crash. After the third crash a suspect
 * becomes a dead letter. Without this class BullMQ would fail all jobs of a dead worker, even those that are not the cause.
 */
export class CrashSuspects {
  private runningJobs = 0;
  private suspectRun: Promise<void> | undefined;
  private whenIdle: () => void = () => undefined;

  constructor(
    private readonly connection: Redis | Cluster,
    private readonly prefix: string,
    /**
     * How many crashes a suspect may cause. The crash that made it a suspect is not counted, because other jobs ran at the same
     * time.
     */
    private readonly maxCrashes: number,
  ) {}

  /** Runs a job that is not a suspect (see the class). Such jobs run in parallel, but not while a suspect runs. */
  async runShared<T>(work: () => Promise<T>): Promise<T> {
    while (this.suspectRun) await this.suspectRun;
    this.runningJobs += 1;
    try {
      return await work();
    } finally {
      this.runningJobs -= 1;
      if (this.runningJobs === 0) this.whenIdle();
    }
  }

  /** Runs a suspect (see the class) while no other job runs in this process. */
  async runAlone<T>(jobId: string, work: () => Promise<T>): Promise<T> {
    while (this.suspectRun) await this.suspectRun;
    const { promise, resolve: done } = Promise.withResolvers<void>();
    this.suspectRun = promise;
    try {
      if (this.runningJobs > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
      return await this.runCounted(jobId, work);
    } finally {
      this.suspectRun = undefined;
      done();
    }
  }

  /** Increments the job's crash count before the run and decrements it afterwards. If the process dies, the count stays. */
  private async runCounted<T>(jobId: string, work: () => Promise<T>): Promise<T> {
    const key = `${this.prefix}:deaths:${jobId}`;
    const count = await this.connection.incr(key);
    await this.connection.expire(key, COUNT_EXPIRY_SECONDS);
    if (count > this.maxCrashes) {
      await this.connection.del(key);
      throw new PermanentFailure(`its worker died while handling it ${this.maxCrashes + 1} times`);
    }
    try {
      return await work();
    } finally {
      // Uncount only this run. Earlier crashes stay counted, because in this run the job may only have been held back.
      if ((await this.connection.decr(key)) <= 0) await this.connection.del(key);
    }
  }
}
