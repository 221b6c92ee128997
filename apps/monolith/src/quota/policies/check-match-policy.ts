import type { PolicyRule } from '#contracts/quota-policies';
import type { PolicyCheck } from '#contracts/quota-policies';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { PostgresMoves } from '../moves/postgres-moves.ts';
import type { PostgresQuotas } from '../tree/postgres-quotas.ts';
import type { Quota } from '../tree/quota.ts';
import { checkPolicy, type QuotaToCheck } from './check-policy.ts';
import { readPolicy } from './policy-files.ts';

/** The match to check, and the name of the policy. */
export interface CheckMatchPolicyCommand {
  readonly matchId: string;
  readonly policy: string;
}

/** Checks the quotas of a match, as they are now, against a policy. Changes nothing. */
export class CheckMatchPolicy {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: PostgresQuotas,
    private readonly moves: PostgresMoves,
  ) {}

  async execute({ matchId, policy: name }: CheckMatchPolicyCommand): Promise<PolicyCheck> {
    const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const policy = await readPolicy(name);
    if (!policy) throw new DomainError('NOT_FOUND', `There is no policy ${name}.`);
    const [quotas, counts, returned] = await Promise.all([
      this.quotas.allOfMatch(matchId),
      this.places.counts({ matchId }),
      this.moves.returnedByKind(matchId),
    ]);
    const cameBack = new Map<PolicyRule, readonly { quotaId: string; places: number }[]>();
    for (const rule of policy.rules)
      if (rule.type === 'never_back_to') cameBack.set(rule, await this.moves.cameBack(matchId, { from: rule.kind, to: rule.to }));
    const { kickoffAt } = match;
    return checkPolicy(policy, { kickoffAt, sectors, quotas: withInheritedRules(quotas), counts, returned, cameBack });
  }
}

function withInheritedRules(quotas: readonly Quota[]): QuotaToCheck[] {
  const byId = new Map(quotas.map((quota) => [quota.id, quota]));
  return quotas.map((quota) => {
    const neverTo = [...quota.neverTo];
    for (let above = quota.parentId; above !== null; above = byId.get(above)?.parentId ?? null)
      neverTo.push(...(byId.get(above)?.neverTo ?? []));
    return { ...quota, neverTo };
  });
}
