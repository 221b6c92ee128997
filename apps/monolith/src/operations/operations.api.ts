import type { CatalogMatch, CatalogSector, MatchFacts, SectorFacts } from '#domain/catalog/match';
import type { SectorPlan } from '#domain/catalog/stadium-layout';

/** A sector of a match that is to be created. */
export interface PlannedSector extends SectorFacts {
  readonly plan: SectorPlan;
}

/** All facts of a match that is to be created. */
export interface CreateMatchCommand extends MatchFacts {
  readonly sectors: readonly PlannedSector[];
}

/** A match that was just created, with its sectors. */
export interface CreatedMatch {
  readonly match: CatalogMatch;
  readonly sectors: readonly CatalogSector[];
}

/** Creates matches without HTTP and without an operator. The CLI's demo data uses it. */
export abstract class OperationsApi {
  abstract createMatch(command: CreateMatchCommand): Promise<CreatedMatch>;
}
