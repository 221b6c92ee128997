import type { Transaction } from '#application/transaction-manager';
import type { ReplicaReads } from '#platform/postgres/replica-reads';
import type { SeatViews } from '../availability/application/availability-reader.ts';
import type { PostgresAvailability } from '../availability/outbound/postgres-availability.ts';
import type { PostgresSeatInventory } from '../availability/outbound/postgres-seat-inventory.ts';
import type { PurchaseReader } from '../checkout/application/purchase-reader.ts';
import { countAccepted, hasSeatCounts } from '../hold/outbound/postgres-fan-seats.ts';
import type { AcceptedTicket, PurchaseApi, MatchReport, NewSectorSeats, SeatCounts, SeatsLeft } from '../purchase.api.ts';

/** Implements the functions of `purchase` that other modules may call. */
export class PostgresPurchaseApi implements PurchaseApi {
  constructor(
    private readonly inventory: PostgresSeatInventory,
    private readonly views: SeatViews,
    private readonly postgresAvailability: PostgresAvailability,
    private readonly reader: PurchaseReader,
    private readonly replicaReads: ReplicaReads,
  ) {}

  layOut(tx: Transaction, matchId: string, sectors: readonly NewSectorSeats[]): Promise<void> {
    return this.inventory.layOut(tx, matchId, sectors);
  }

  async seatsLeft(matchId: string): Promise<SeatsLeft> {
    const { sectors, held, windowsHolding, windowsIdle, countedAtMs } = await this.views.decisiveSectors(matchId);
    const free = sectors.reduce((sum, { available }) => sum + available, 0);
    return { sectors, free, held, usefulWindows: free + windowsHolding + windowsIdle, countedAtMs };
  }

  seatsLeftNow(matchId: string): Promise<SeatsLeft> {
    this.views.invalidate(matchId);
    return this.seatsLeft(matchId);
  }

  hasSeatsLeft(tx: Transaction, matchId: string): Promise<boolean> {
    return this.postgresAvailability.hasSeatsLeft(tx, matchId);
  }

  countAccepted(tx: Transaction, accepted: AcceptedTicket): Promise<number | undefined> {
    return countAccepted(tx, accepted);
  }

  isBuyer(tx: Transaction, userId: string): Promise<boolean> {
    return hasSeatCounts(tx, userId);
  }

  addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.reader.addresses(matchId, userIds);
  }

  async report(matchId: string): Promise<MatchReport> {
    const [states, totals] = await Promise.all([
      this.replicaReads.read('current', (database) => this.inventory.states(database, matchId)),
      this.reader.totals(matchId),
    ]);
    const sum = (count: keyof SeatCounts): number => states.reduce((total, state) => total + state[count], 0);
    return { available: sum('available'), held: sum('held'), sold: sum('sold'), blocked: sum('blocked'), ...totals };
  }
}
