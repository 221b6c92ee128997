import type { CatalogApi } from '../../catalog/catalog.api.ts';
import { Matches, type PrintedMatch } from '../application/ports.ts';

/** Reads the facts of a match for printed tickets from the catalogue. */
export class CatalogPrintedMatches extends Matches {
  constructor(private readonly catalog: CatalogApi) {
    super();
  }

  async printed(matchId: string, sector: string): Promise<PrintedMatch> {
    const [match, sectors] = await Promise.all([this.catalog.match(matchId), this.catalog.sectors(matchId)]);
    if (!match) throw new Error(`a ticket exists for the unknown match ${matchId}`);
    const gate = sectors.find(({ name }) => name === sector)?.gate ?? null;
    return { matchName: `${match.home} vs ${match.away}`, kickoffAt: match.kickoffAt.toISOString(), venue: match.venue, gate };
  }
}
