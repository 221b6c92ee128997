import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import { recordChange } from '#application/recorded-change';
import type { TransactionManager } from '#application/transaction-manager';
import { capacityOf, layOut } from '#domain/catalog/stadium-layout';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch, CatalogSector } from '../catalog/catalog.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { CreatedMatch, CreateMatchCommand, PlannedSector } from './operations.api.ts';

/** The most seats of one match, as the contract of the API says. 120,000 seats are inserted in one transaction of a few seconds. */
export const MAX_SEATS = 120_000;

/** Adds a match with its sectors to the catalogue, creates its seats, and tells the waiting room if the match needs a queue. */
export class CreateMatch {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {}

  async execute(command: CreateMatchCommand): Promise<CreatedMatch> {
    assertPlausible(command.sectors);
    const { sectors: planned, ...facts } = command;
    const match: CatalogMatch = {
      ...facts,
      id: this.ids.next(),
      saleStatus: 'scheduled',
      pauseReason: null,
      cancelledAt: null,
      cancelReason: null,
    };
    const sectors = planned.map(({ plan, ...sectorFacts }): CatalogSector => ({
      ...sectorFacts,
      id: this.ids.next(),
      matchId: match.id,
      kind: plan.kind,
      capacity: capacityOf(plan),
    }));
    const seatsBySector = planned.map((sector, index) => ({
      sectorId: sectors[index]?.id ?? '',
      seats: layOut(sector.plan, index, planned.length),
    }));
    return this.transactions.run(async (tx) => {
      await this.catalog.add(tx, match, sectors);
      await this.purchase.layOut(tx, match.id, seatsBySector);
      if (match.queueRequired) {
        const body = { kind: 'sync', match_id: match.id };
        await this.outbox.append(tx, [
          { id: this.ids.next(), destination: 'waiting-room', event: 'match.created', aggregateId: match.id, body },
        ]);
      }
      const { id, ...created } = match;
      const places = sectors.reduce((sum, { capacity }) => sum + capacity, 0);
      recordChange(tx, { target: { type: 'match', id }, before: null, after: { ...created, sectors: sectors.length, places } });
      return { match, sectors };
    });
  }
}

function assertPlausible(sectors: readonly PlannedSector[]): void {
  const seats = sectors.reduce((sum, { plan }) => sum + capacityOf(plan), 0);
  if (seats > MAX_SEATS) throw invalid('sectors', `has ${seats} seats, more than ${MAX_SEATS}`);
  const names = new Set(sectors.map(({ name }) => name));
  if (names.size < sectors.length) throw invalid('sectors', 'two sectors have the same name');
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('VALIDATION_FAILED', 'The request is malformed: see errors.', { errors: [{ path, message }] });
}
