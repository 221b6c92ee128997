import type { Transaction } from '#application/transaction-manager';
import type { CatalogApi } from '../../../catalog/catalog.api.ts';
import { type SectorForSale } from '../../application/ports.ts';
import { MatchesForSale, type MatchForSale } from '../../application/sale-ports.ts';

/** The catalogue, in the words of the purchase. Sectors and their currency never change once they are made, so they are asked for once. */
export class CatalogMatches extends MatchesForSale {
  private readonly known = new Map<string, Promise<SectorForSale | undefined>>();
  private readonly knownOfMatch = new Map<string, Promise<readonly SectorForSale[]>>();
  private readonly knownGates = new Map<string, ReadonlyMap<string, string | null>>();

  constructor(private readonly catalog: CatalogApi) {
    super();
  }

  async match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined> {
    const match = await this.catalog.match(matchId, tx);
    return match && { ...match, name: `${match.home} vs ${match.away}` };
  }

  sector(sectorId: string): Promise<SectorForSale | undefined> {
    return askedOnce(
      this.known,
      sectorId,
      async () => {
        const sector = await this.catalog.sector(sectorId);
        const match = sector && (await this.catalog.match(sector.matchId));
        return match && { ...sector, currency: match.currency };
      },
      (found) => found !== undefined,
    );
  }

  sectors(matchId: string): Promise<readonly SectorForSale[]> {
    return askedOnce(
      this.knownOfMatch,
      matchId,
      async () => {
        const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
        return match ? sectors.map((sector) => ({ ...sector, currency: match.currency })) : [];
      },
      (found) => found.length > 0,
    );
  }

  /** A transaction waits for nobody who asks the same: that one may wait for its connection. */
  async gates(matchId: string, tx: Transaction): Promise<ReadonlyMap<string, string | null>> {
    const known = this.knownGates.get(matchId);
    if (known) return known;
    const sectors = await this.catalog.sectors(matchId, tx);
    const gates = new Map(sectors.map(({ name, gate }) => [name, gate]));
    if (gates.size > 0) this.knownGates.set(matchId, gates);
    return gates;
  }
}

/** Also when thousands ask for it in the same moment, as when a sale opens. What was not found may be there the next time. */
function askedOnce<V>(
  known: Map<string, Promise<V>>,
  id: string,
  ask: () => Promise<V>,
  isFound: (value: V) => boolean,
): Promise<V> {
  const asked = known.get(id);
  if (asked) return asked;
  const answer = ask();
  known.set(id, answer);
  answer.then(
    (value) => isFound(value) || known.delete(id),
    () => known.delete(id),
  );
  return answer;
}
