import { quotaKinds } from '#contracts/quota-kinds';
import type { Allocation } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { PostgresMoves } from '../moves/postgres-moves.ts';
import type { PostgresQuotas } from './postgres-quotas.ts';
import { sumOf } from './quota-views.ts';

const MAX_AGE_MS = 1000;

/**
 * Who gets the places of a match, for everybody. Counting reads all places of the match, so all callers within a second share one
 * count.
 */
export class ReadAllocation {
  private readonly latest = new Map<string, { readonly readAt: number; readonly allocation: Promise<Allocation> }>();

  constructor(
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly quotas: PostgresQuotas,
    private readonly moves: PostgresMoves,
  ) {}

  execute(matchId: string): Promise<Allocation> {
    const now = performance.now();
    for (const [id, { readAt }] of this.latest) if (now - readAt >= MAX_AGE_MS) this.latest.delete(id);
    const known = this.latest.get(matchId);
    if (known) return known.allocation;
    const allocation = this.read(matchId);
    this.latest.set(matchId, { readAt: now, allocation });
    // An error is not shared with later callers.
    allocation.catch(() => this.latest.delete(matchId));
    return allocation;
  }

  private async read(matchId: string): Promise<Allocation> {
    const sectors = await this.catalog.sectors(matchId);
    if (sectors.length === 0) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const [quotas, counts, returned] = await Promise.all([
      this.quotas.allOfMatch(matchId),
      this.places.counts({ matchId }),
      this.moves.returnedByKind(matchId),
    ]);
    const ofPublic = counts.filter(({ quotaId }) => quotaId === null);
    const { total, free, held, sold } = sumOf(ofPublic);
    return {
      capacity: sectors.reduce((sum, { capacity }) => sum + capacity, 0),
      public: { total, available: free, held, sold },
      quotas: quotaKinds
        .filter((kind) => quotas.some((quota) => quota.kind === kind))
        .map((kind) => {
          const ids = new Set(quotas.filter((quota) => quota.kind === kind).map(({ id }) => id));
          const ofKind = sumOf(counts.filter(({ quotaId }) => quotaId !== null && ids.has(quotaId)));
          return { kind, total: ofKind.total, sold: ofKind.sold, returned: returned.get(kind) ?? 0 };
        }),
    };
  }
}
