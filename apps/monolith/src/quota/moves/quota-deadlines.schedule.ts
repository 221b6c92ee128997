import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { EndInvitations } from '../claims/end-invitations.ts';
import { ReturnPlaces } from './return-places.ts';

/**
 * Keeps the deadlines of quotas. A return takes effect within a second of `return_at`, and places that become free later follow
 * within a second too.
 */
@Injectable()
export class QuotaDeadlines {
  constructor(
    private readonly returnPlaces: ReturnPlaces,
    private readonly endInvitations: EndInvitations,
    tasks: PeriodicTasks,
  ) {
    const does =
      'Returns the free places of quotas at their deadline and later, and ends invitations and moves whose time is over.';
    tasks.add({ name: 'quota deadlines', everyMs: 1000, does }, () => this.runOnce());
  }

  /** Returns how many invitations, pending moves and quotas this run has changed. */
  async runOnce(): Promise<number> {
    const withdrawn = await this.endInvitations.withdrawCancelled();
    const ended = (await this.endInvitations.expireDue()) + (await this.returnPlaces.endExpiredRequests());
    const returned = await this.returnPlaces.returnDue();
    return withdrawn + ended + returned + (await this.returnPlaces.returnLateFree());
  }
}
