import type { Quota as QuotaView, QuotaCounts } from '#contracts/quotas';
import type { PlaceCounts, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { PostgresQuotas } from './postgres-quotas.ts';
import type { Quota } from './quota.ts';

/** The places of a quota: its own by sector, and those of its subtree. */
interface QuotaPlaces {
  readonly own: readonly PlaceCounts[];
  readonly subtree: readonly PlaceCounts[];
}

/** Renders quotas with the numbers of their places. */
export class QuotaViews {
  constructor(
    private readonly quotas: PostgresQuotas,
    private readonly places: QuotaPlacesApi,
  ) {}

  /** All places are counted by one statement, so the numbers of a page fit together. */
  async of(quotas: readonly Quota[]): Promise<readonly QuotaView[]> {
    if (quotas.length === 0) return [];
    const subtrees = await this.quotas.subtrees(quotas.map(({ id }) => id));
    const counts = await this.places.counts({ quotaIds: [...new Set([...subtrees.values()].flat())] });
    const byQuota = new Map<string | null, PlaceCounts[]>();
    for (const count of counts) byQuota.set(count.quotaId, [...(byQuota.get(count.quotaId) ?? []), count]);
    const placesOf = (id: string): readonly PlaceCounts[] => byQuota.get(id) ?? [];
    return quotas.map((quota) =>
      quotaView(quota, { own: placesOf(quota.id), subtree: (subtrees.get(quota.id) ?? []).flatMap(placesOf) }),
    );
  }

  async one(quota: Quota): Promise<QuotaView> {
    return (await this.of([quota]))[0]!;
  }
}

/** The numbers of places, summed over sectors and quotas. */
export function sumOf(counts: readonly Omit<PlaceCounts, 'quotaId' | 'sectorId'>[]): QuotaCounts {
  const sum = (of: keyof QuotaCounts): number => counts.reduce((total, count) => total + count[of], 0);
  return { total: sum('total'), free: sum('free'), invited: sum('invited'), held: sum('held'), sold: sum('sold') };
}

export function quotaView(quota: Quota, { own, subtree }: QuotaPlaces): QuotaView {
  const time = (at: Date | null): string | null => at?.toISOString() ?? null;
  return {
    id: quota.id,
    match_id: quota.matchId,
    parent_id: quota.parentId,
    name: quota.name,
    kind: quota.kind,
    members: [...quota.members],
    contact_email: quota.contactEmail,
    opens_at: time(quota.opensAt),
    claim_until: time(quota.claimUntil),
    return_at: time(quota.returnAt),
    on_return: quota.onReturn,
    never_to: [...quota.neverTo],
    price_cents: { ...quota.priceCents },
    max_per_invitation: quota.maxPerInvitation,
    status: quota.status,
    returned_at: time(quota.returnedAt),
    created_at: quota.createdAt.toISOString(),
    places: sumOf(own),
    subtree: sumOf(subtree),
    by_sector: own.map(({ sectorId, total, free }) => ({ sector_id: sectorId, total, free })),
  };
}

/** The numbers of a quota that was just created with these free places. */
export function newQuotaView(quota: Quota, sectors: readonly { sectorId: string; taken: readonly unknown[] }[]): QuotaView {
  const own = sectors.map(({ sectorId, taken: { length } }) => ({
    ...{ quotaId: quota.id, sectorId, total: length, free: length, invited: 0, held: 0, sold: 0 },
  }));
  return quotaView(quota, { own, subtree: own });
}
