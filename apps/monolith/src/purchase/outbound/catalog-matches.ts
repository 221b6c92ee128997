import type { Transaction } from '#application/transaction-manager';
import type { CatalogApi, CatalogSector } from '../../catalog/catalog.api.ts';
import { MatchesForSale, type MatchForSale, type SectorForSale } from '../application/ports.ts';

/** The catalogue, in the words of the purchase. A sector never changes once it is made, so it is asked for once. */
export class CatalogMatches extends MatchesForSale {
  private readonly known = new Map<string, CatalogSector>();

  constructor(private readonly catalog: CatalogApi) {
    super();
  }

  async match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined> {
    const match = await this.catalog.match(matchId, tx);
    return match && { ...match, name: `${match.home} vs ${match.away}` };
  }

  async sector(sectorId: string): Promise<SectorForSale | undefined> {
    const sector = this.known.get(sectorId) ?? (await this.catalog.sector(sectorId));
    if (sector) this.known.set(sectorId, sector);
    return sector;
  }

  async sectors(matchId: string): Promise<readonly SectorForSale[]> {
    return this.catalog.sectors(matchId);
  }
}
