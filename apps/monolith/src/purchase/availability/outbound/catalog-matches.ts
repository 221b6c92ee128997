import type { Transaction } from '#application/transaction-manager';
import type { CatalogApi } from '../../../catalog/catalog.api.ts';
import { type SectorForSale } from '../../application/ports.ts';
import type { MatchesForSale, MatchForSale } from '../../application/sale-ports.ts';

/**
 * Reads matches and sectors from the module `catalog`. Sectors and their currency never change, so they are read once and cached.
 */
export class CatalogMatches implements MatchesForSale {
  private readonly cachedSectors = new Map<string, Promise<SectorForSale | undefined>>();
  private readonly sectorsOfTransactions = new Map<string, SectorForSale>();
  private readonly cachedSectorsOfMatch = new Map<string, Promise<readonly SectorForSale[] | undefined>>();
  private readonly cachedGates = new Map<string, ReadonlyMap<string, string | null>>();

  constructor(private readonly catalog: CatalogApi) {}

  async match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined> {
    const match = await this.catalog.match(matchId, tx);
    return match && { ...match, name: `${match.home} vs ${match.away}` };
  }

  async sector(sectorId: string, tx?: Transaction): Promise<SectorForSale | undefined> {
    if (!tx) return readOnce(this.cachedSectors, sectorId, () => this.readSector(sectorId));
    // As in `gates`: a running read is not shared with other callers.
    const sector = this.sectorsOfTransactions.get(sectorId) ?? (await this.readSector(sectorId, tx));
    if (sector) this.sectorsOfTransactions.set(sectorId, sector);
    return sector;
  }

  private async readSector(sectorId: string, tx?: Transaction): Promise<SectorForSale | undefined> {
    const sector = await this.catalog.sector(sectorId, tx);
    const match = sector && (await this.catalog.match(sector.matchId, tx));
    return match && { ...sector, currency: match.currency };
  }

  async sectors(matchId: string): Promise<readonly SectorForSale[]> {
    const found = await readOnce(this.cachedSectorsOfMatch, matchId, async () => {
      const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
      return match && sectors.length > 0 ? sectors.map((sector) => ({ ...sector, currency: match.currency })) : undefined;
    });
    return found ?? [];
  }

  /**
   * Does not share a running read with other callers: such a read may be waiting for the connection that this transaction holds.
   */
  async gates(matchId: string, tx: Transaction): Promise<ReadonlyMap<string, string | null>> {
    const cached = this.cachedGates.get(matchId);
    if (cached) return cached;
    const sectors = await this.catalog.sectors(matchId, tx);
    const gates = new Map(sectors.map(({ name, gate }) => [name, gate]));
    if (gates.size > 0) this.cachedGates.set(matchId, gates);
    return gates;
  }
}

/**
 * Reads each id once and caches the result. Concurrent calls share the read: thousands come in the moment when a sale opens. A read
 * that failed or found nothing is not cached.
 */
function readOnce<V>(
  cache: Map<string, Promise<V | undefined>>,
  id: string,
  read: () => Promise<V | undefined>,
): Promise<V | undefined> {
  const cached = cache.get(id);
  if (cached) return cached;
  const result = read();
  cache.set(id, result);
  result.then(
    (value) => value === undefined && cache.delete(id),
    () => cache.delete(id),
  );
  return result;
}
