import type { Transaction } from '#application/transaction-manager';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import { MatchesForSale, type MatchForSale, type SectorForSale } from '../application/ports.ts';

/** The catalogue, in the words of the purchase. A sector and its currency never change once they are made, so they are asked for once. */
export class CatalogMatches extends MatchesForSale {
  private readonly known = new Map<string, SectorForSale>();

  constructor(private readonly catalog: CatalogApi) {
    super();
  }

  async match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined> {
    const match = await this.catalog.match(matchId, tx);
    return match && { ...match, name: `${match.home} vs ${match.away}` };
  }

  async sector(sectorId: string): Promise<SectorForSale | undefined> {
    const known = this.known.get(sectorId);
    if (known) return known;
    const sector = await this.catalog.sector(sectorId);
    const match = sector && (await this.catalog.match(sector.matchId));
    if (!sector || !match) return undefined;
    const found = { ...sector, currency: match.currency };
    this.known.set(sectorId, found);
    return found;
  }

  async sectors(matchId: string): Promise<readonly SectorForSale[]> {
    const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
    return match ? sectors.map((sector) => ({ ...sector, currency: match.currency })) : [];
  }
}
