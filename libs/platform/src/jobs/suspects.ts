import type { Cluster, Redis } from 'ioredis';
import { Hopeless } from './job-outcomes.ts';

/** A day after its last death a job is as good as new. */
const REMEMBERED_SECONDS = 86_400;

/**
 * A job that was found in a dead worker's hands may have killed it; so may any of those that were there with it. From then on
 * each of them is worked on alone, so that the next death has one possible cause, and after the third it is the dead letter.
 * BullMQ alone fails them all, those that only stood beside it included.
 */
export class Suspects {
  private inHand = 0;
  private alone: Promise<void> | undefined;
  private whenIdle: () => void = () => undefined;

  constructor(
    private readonly connection: Redis | Cluster,
    private readonly prefix: string,
    /** Workers a job may take down before it counts: the first death is everybody's who was there. */
    private readonly deaths: number,
  ) {}

  /** What nobody suspects: many at a time, but not beside a suspect. */
  async together<T>(work: () => Promise<T>): Promise<T> {
    while (this.alone) await this.alone;
    this.inHand += 1;
    try {
      return await work();
    } finally {
      this.inHand -= 1;
      if (this.inHand === 0) this.whenIdle();
    }
  }

  async apart<T>(jobId: string, work: () => Promise<T>): Promise<T> {
    while (this.alone) await this.alone;
    let done = (): void => undefined;
    this.alone = new Promise((resolve) => (done = resolve));
    try {
      if (this.inHand > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
      return await this.counted(jobId, work);
    } finally {
      this.alone = undefined;
      done();
    }
  }

  private async counted<T>(jobId: string, work: () => Promise<T>): Promise<T> {
    const key = `${this.prefix}:deaths:${jobId}`;
    const began = await this.connection.incr(key);
    await this.connection.expire(key, REMEMBERED_SECONDS);
    if (began > this.deaths) {
      await this.connection.del(key);
      throw new Hopeless(`its worker died with it in hand ${this.deaths + 1} times`);
    }
    try {
      return await work();
    } finally {
      // Reached by every end but a death; deaths before this one stay counted, as the job may only have been held back.
      if ((await this.connection.decr(key)) <= 0) await this.connection.del(key);
    }
  }
}
