import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { ReturnPlaces } from './return-places.ts';

/**
 * Keeps the deadlines of quotas. A return takes effect within a second of `return_at`, and places that become free later follow
 * within a second too.
 */
@Injectable()
export class QuotaDeadlines {
  constructor(
    private readonly returnPlaces: ReturnPlaces,
    tasks: PeriodicTasks,
  ) {
    const does =
      'Returns the free places of quotas at their deadline and later, and ends moves that nobody has approved in time.';
    tasks.add({ name: 'quota deadlines', everyMs: 1000, does }, () => this.runOnce());
  }

  /** Returns how many quotas and pending moves this run has changed. */
  async runOnce(): Promise<number> {
    const expired = await this.returnPlaces.endExpiredRequests();
    const returned = await this.returnPlaces.returnDue();
    return expired + returned + (await this.returnPlaces.returnLateFree());
  }
}
