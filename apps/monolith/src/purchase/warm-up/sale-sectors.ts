import type { MatchesForSale } from '../application/sale-ports.ts';
import type { SectorSnapshots } from '../hold/outbound/sector-snapshot.ts';

/** Loading a sector takes some 10 ms. Sectors beyond this number are loaded in the next runs, or with their first hold. */
const MAX_SECTORS_A_RUN = 400;

/** Loads the sectors of matches into the memory of this process, each once. */
export class SaleSectors {
  private readonly loaded = new Set<string>();

  constructor(
    private readonly matches: MatchesForSale,
    private readonly snapshots: SectorSnapshots,
  ) {}

  async load(matchIds: readonly string[]): Promise<void> {
    let count = 0;
    for (const matchId of matchIds) {
      for (const { id } of await this.matches.sectors(matchId)) {
        if (this.loaded.has(id) || count >= MAX_SECTORS_A_RUN) continue;
        count += 1;
        this.loaded.add(id);
        await this.matches.sector(id);
        await this.snapshots.forceFetch(id);
      }
    }
  }
}
