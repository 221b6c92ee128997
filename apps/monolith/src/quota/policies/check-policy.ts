import type { QuotaKind } from '#contracts/quota-kinds';
import type { PolicyRule, QuotaPolicy } from '#contracts/quota-policies';
import type { PolicyCheck } from '#contracts/quota-policies';
import type { PlaceCounts } from '../../purchase/quota-places.api.ts';
import { priceOf, type Quota } from '../tree/quota.ts';

/** A quota with the rules of its ancestors. */
export interface QuotaToCheck extends Pick<Quota, 'id' | 'name' | 'kind' | 'returnAt' | 'onReturn' | 'priceCents'> {
  /** Its own `never_to` and that of its ancestors. */
  readonly neverTo: readonly QuotaKind[];
}

/** Everything that the rules of a policy look at. */
export interface PlanToCheck {
  readonly kickoffAt: Date;
  readonly sectors: readonly {
    readonly id: string;
    readonly name: string;
    readonly capacity: number;
    readonly priceCents: number;
  }[];
  readonly quotas: readonly QuotaToCheck[];
  /** By owner and sector, the public included. */
  readonly counts: readonly PlaceCounts[];
  /** Places that went back from the quotas of a kind to the public. */
  readonly returned: ReadonlyMap<QuotaKind, number>;
  /** For a rule `never_back_to`: the quotas that have places which left the quotas of the rule's kind. */
  readonly cameBack: ReadonlyMap<PolicyRule, readonly { readonly quotaId: string; readonly places: number }[]>;
}

type Breach = PolicyCheck['rules'][number]['breaches'][number];

const DAY_MS = 86_400_000;

/** Checks each rule of a policy. The result names the rule, its article and everything that breaks it. */
export function checkPolicy(policy: QuotaPolicy, plan: PlanToCheck): PolicyCheck {
  const rules = policy.rules.map((rule) => {
    const breaches = breachesOf(rule, plan);
    return { id: rule.id, article: rule.article, text: rule.text, ok: breaches.length === 0, breaches };
  });
  const { name, title, source } = policy;
  return { policy: { name, title, source }, ok: rules.every(({ ok }) => ok), rules };
}

function breachesOf(rule: PolicyRule, plan: PlanToCheck): Breach[] {
  const capacity = plan.sectors.reduce((sum, sector) => sum + sector.capacity, 0);
  switch (rule.type) {
    case 'min_share':
      return atLeast(givenTo(rule.kind, plan), Math.ceil((capacity * rule.percent) / 100), `places for ${rule.kind}`);
    case 'min_places':
      return atLeast(givenTo(rule.kind, plan), rule.places, `places for ${rule.kind}`);
    case 'min_public_share':
      return atLeast(placesOf(plan, null), Math.ceil((capacity * rule.percent) / 100), 'places for the public');
    case 'own_sectors':
      return sharedSectors(rule.kind, plan);
    case 'one_sector':
      return quotasOf(rule.kind, plan).flatMap(({ id }) => {
        const { length } = plan.counts.filter(({ quotaId, total }) => quotaId === id && total > 0);
        return length > 1 ? [{ quota_id: id, message: `has places in ${length} sectors` }] : [];
      });
    case 'max_price_cents':
      return quotasOf(rule.kind, plan).flatMap((quota) => dearSectors(quota, rule.cents, plan));
    case 'return_by_days':
      return quotasOf(rule.kind, plan).flatMap((quota) =>
        lateReturn(quota, new Date(plan.kickoffAt.getTime() - rule.days * DAY_MS)),
      );
    case 'never_back_to':
      return [
        ...quotasOf(rule.kind, plan)
          .filter(({ neverTo }) => !neverTo.includes(rule.to))
          .map(({ id }) => ({ quota_id: id, message: `its never_to does not name ${rule.to}` })),
        ...(plan.cameBack.get(rule) ?? []).map(({ quotaId, places }) => ({
          quota_id: quotaId,
          message: `has ${places} places that left the quotas of ${rule.kind}`,
        })),
      ];
  }
}

const quotasOf = (kind: QuotaKind, { quotas }: PlanToCheck): readonly QuotaToCheck[] =>
  quotas.filter((quota) => quota.kind === kind);

function placesOf({ counts }: PlanToCheck, owner: string | null): number {
  return counts.reduce((sum, { quotaId, total }) => sum + (quotaId === owner ? total : 0), 0);
}

/** The places that the quotas of the kind have, and those that they had and gave back. */
function givenTo(kind: QuotaKind, plan: PlanToCheck): number {
  const now = quotasOf(kind, plan).reduce((sum, { id }) => sum + placesOf(plan, id), 0);
  return now + (plan.returned.get(kind) ?? 0);
}

function atLeast(found: number, needed: number, what: string): Breach[] {
  return found >= needed ? [] : [{ quota_id: null, message: `${found} ${what}, at least ${needed} are needed` }];
}

/** Sectors in which others have places too. A buffer, whose places stay empty, may be beside the kind. */
function sharedSectors(kind: QuotaKind, plan: PlanToCheck): Breach[] {
  const kindOf = new Map(plan.quotas.map((quota) => [quota.id, quota.kind]));
  return quotasOf(kind, plan).flatMap(({ id }) =>
    plan.counts
      .filter(({ quotaId, total }) => quotaId === id && total > 0)
      .flatMap(({ sectorId }) => {
        const others = plan.counts.filter((count) => {
          const owner = count.quotaId === null ? 'public' : kindOf.get(count.quotaId);
          return count.sectorId === sectorId && count.total > 0 && owner !== kind && owner !== 'buffer';
        });
        const places = others.reduce((sum, { total }) => sum + total, 0);
        return places > 0
          ? [{ quota_id: id, message: `${places} places of others are in sector ${sectorName(plan, sectorId)}` }]
          : [];
      }),
  );
}

function dearSectors(quota: QuotaToCheck, cents: number, plan: PlanToCheck): Breach[] {
  return plan.counts
    .filter(({ quotaId, total }) => quotaId === quota.id && total > 0)
    .flatMap(({ sectorId }) => {
      const sector = plan.sectors.find(({ id }) => id === sectorId);
      const price = sector ? priceOf(quota, sector) : 0;
      const message = `a place in sector ${sectorName(plan, sectorId)} costs ${price} cents, at most ${cents} are allowed`;
      return price > cents ? [{ quota_id: quota.id, message }] : [];
    });
}

function lateReturn({ id, returnAt, onReturn }: QuotaToCheck, latest: Date): Breach[] {
  if (returnAt === null || onReturn === 'keep') return [{ quota_id: id, message: 'does not return unused places' }];
  const message = `returns unused places at ${returnAt.toISOString()}, at the latest ${latest.toISOString()} is allowed`;
  return returnAt > latest ? [{ quota_id: id, message }] : [];
}

const sectorName = ({ sectors }: PlanToCheck, sectorId: string): string =>
  sectors.find(({ id }) => id === sectorId)?.name ?? sectorId;
