import type { Clock } from '#application/clock';
import { recordChange } from '#application/recorded-change';
import type { TransactionManager } from '#application/transaction-manager';
import type { Quota as QuotaView } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PostgresClaims } from '../claims/postgres-claims.ts';
import { priceFaults } from './create-quota.ts';
import type { PostgresQuotas } from './postgres-quotas.ts';
import { quotaView, type QuotaViews } from './quota-views.ts';
import {
  deadlineFaults,
  endOfInvitations,
  invalidFields,
  ruleAgainstReturnToParent,
  type FieldFault,
  type Quota,
  type QuotaSettings,
} from './quota.ts';

/** Settings of a quota to change. Omitted ones keep their value. */
export interface ChangeQuotaCommand {
  readonly quotaId: string;
  readonly change: Partial<QuotaSettings>;
}

/** Changes the settings of a quota. Its places, its kind and its parent change only by moves, or never. */
export class ChangeQuota {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly quotas: PostgresQuotas,
    private readonly claims: PostgresClaims,
    private readonly views: QuotaViews,
    private readonly clock: Clock,
  ) {}

  async execute({ quotaId, change }: ChangeQuotaCommand): Promise<QuotaView> {
    const before = await this.quotas.ofMember(quotaId, undefined);
    if (!before) throw new DomainError('NOT_FOUND', 'There is no such quota.');
    const sectors = await this.catalog.sectors(before.matchId);
    const { places, subtree, by_sector } = await this.views.one(before);
    return this.transactions.run(async (tx) => {
      const quota = (await this.quotas.lock(tx, quotaId))!;
      const match = (await this.catalog.match(quota.matchId, tx))!;
      const changed = { ...quota, ...change };
      const faults: FieldFault[] = [
        ...deadlineFaults(changed, { kickoffAt: match.kickoffAt, now: this.clock.now(), before: quota }),
        ...priceFaults(changed, sectors),
      ];
      const [, ...ancestors] = await this.quotas.chain(tx, quotaId);
      if (changed.onReturn === 'parent' && ancestors.length === 0)
        faults.push({ path: 'on_return', message: 'is parent, but the quota has no parent' });
      if (changed.onReturn === 'parent' && ruleAgainstReturnToParent([changed, ...ancestors]))
        faults.push({ path: 'on_return', message: 'is parent, but never_to names the kind of the parent' });
      if (faults.length > 0) throw invalidFields(faults);
      if (quota.status === 'returned') assertKeepsReturn(quota, changed);
      await this.claims.moveEnds(tx, quotaId, endOfInvitations(changed, match));
      const after = await this.quotas.change(tx, quotaId, changed);
      recordChange(tx, { matchId: match.id, before: { ...quota }, after: { ...after } });
      const view = quotaView(after, { own: [], subtree: [] });
      return { ...view, places, subtree, by_sector };
    });
  }
}

/** The return has happened. Setting another time for it would promise something that cannot happen any more. */
function assertKeepsReturn(before: Quota, { returnAt, onReturn }: Quota): void {
  const isSame = before.returnAt?.getTime() === returnAt?.getTime() && before.onReturn === onReturn;
  if (!isSame) throw new DomainError('INVALID_STATE', 'This quota has returned its places: its return cannot change.');
}
