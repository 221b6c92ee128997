import type { Transaction } from '#application/transaction-manager';
import type { PostgresClaims } from '../claims/postgres-claims.ts';
import type { MovedKickoff } from '../quota.api.ts';
import type { PostgresQuotas } from './postgres-quotas.ts';
import { cutAtKickoff, endOfInvitations } from './quota.ts';

/**
 * Keeps the deadlines of open quotas and the ends of their invitations before a moved kick-off. Invitations that end at kick-off end at
 * the new one, also if it is later. A deadline of a quota never becomes later.
 */
export class FollowKickoff {
  constructor(
    private readonly quotas: PostgresQuotas,
    private readonly claims: PostgresClaims,
  ) {}

  async execute(tx: Transaction, { matchId, kickoffAt }: MovedKickoff): Promise<void> {
    for (const quota of await this.quotas.openOfMatch(tx, matchId)) {
      const changed = cutAtKickoff(quota, kickoffAt);
      const isSame = (['opensAt', 'claimUntil', 'returnAt'] as const).every(
        (name) => changed[name]?.getTime() === quota[name]?.getTime(),
      );
      if (!isSame) await this.quotas.change(tx, quota.id, changed);
      await this.claims.moveEnds(tx, quota.id, endOfInvitations(changed, { kickoffAt }));
    }
  }
}
