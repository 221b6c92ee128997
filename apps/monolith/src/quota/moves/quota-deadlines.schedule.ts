import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { EndInvitations } from '../claims/end-invitations.ts';
import { ReturnPlaces } from './return-places.ts';

/** Twenty quotas with one deadline are back within a second of the first one. */
const REST_BETWEEN_RETURNS_MS = 30;

/**
 * Keeps the deadlines of quotas. A return starts within a second of `return_at`, and places that become free later follow
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
    const returned = await this.returnPlaces.returnDue(() => sleep(REST_BETWEEN_RETURNS_MS));
    return withdrawn + ended + returned + (await this.returnPlaces.returnLateFree());
  }
}
