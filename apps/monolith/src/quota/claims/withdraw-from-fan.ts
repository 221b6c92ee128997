import type { FansApi } from '../../fans/fans.api.ts';
import type { AskingFan, ErasableWithFans } from '../../fans/kept-about-fans.api.ts';
import type { EndInvitations } from './end-invitations.ts';
import type { PostgresClaims } from './postgres-claims.ts';

/**
 * Withdraws the open invitations of a fan who erases everything: those that name the fan, that the fan has claimed, or that were sent to an
 * address of which the fan is known to be the owner. Otherwise the reminder would still be sent.
 */
export class WithdrawFromFan {
  constructor(
    erasable: ErasableWithFans,
    private readonly fans: FansApi,
    private readonly claims: PostgresClaims,
    private readonly endInvitations: EndInvitations,
  ) {
    erasable.add({ end: (fan) => this.end(fan) });
  }

  private async end(fan: AskingFan): Promise<void> {
    for (const id of await this.claims.openOfFan(fan.userId, await this.fans.ownAddress(fan)))
      await this.endInvitations.withdraw(id);
  }
}
