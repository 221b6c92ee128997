import type { SectorPlan } from '#domain/catalog/stadium-layout';

/** A sector of a match that is to be created. */
export interface PlannedSector {
  readonly name: string;
  readonly gate: string | null;
  readonly priceCents: number;
  readonly plan: SectorPlan;
}

/** All facts of a match that is to be created. */
export interface CreateMatchCommand {
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly opensAt: Date | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
  readonly sectors: readonly PlannedSector[];
}

/** Creates matches without HTTP and without an operator. The CLI's demo data uses it. */
export abstract class OperationsApi {
  abstract createMatch(
    command: CreateMatchCommand,
  ): Promise<{ readonly matchId: string; readonly sectors: readonly { readonly capacity: number }[] }>;
}
