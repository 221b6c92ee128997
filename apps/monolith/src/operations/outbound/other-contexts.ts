import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PurchaseApi } from '../../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../../waiting-room/waiting-room.api.ts';
import {
  Catalog,
  MatchNumbers,
  Queues,
  Seats,
  type Match,
  type QueueTotals,
  type RemainingSeats,
  type SeatTotals,
  type Sector,
} from '../application/ports.ts';

// The operations context owns no data. The adapters in this file implement its ports by calling the APIs of other contexts.

/** The matches and sectors, in the catalogue context. */
export class DelegatingCatalog extends Catalog {
  constructor(private readonly catalog: CatalogApi) {
    super();
  }
  match(matchId: string, tx?: Transaction): Promise<Match | undefined> {
    return this.catalog.match(matchId, tx);
  }
  sectors(matchId: string): Promise<readonly Sector[]> {
    return this.catalog.sectors(matchId);
  }
  add(tx: Transaction, match: Match, sectors: readonly Sector[]): Promise<void> {
    return this.catalog.add(tx, match, sectors);
  }
  update(tx: Transaction, matchId: string, change: Partial<Omit<Match, 'id'>>): Promise<void> {
    return this.catalog.update(tx, matchId, change);
  }
}

/** The seats, in the purchase context. */
export class DelegatingSeats extends Seats {
  constructor(private readonly purchase: PurchaseApi) {
    super();
  }
  layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; seats: readonly SeatGeometry[] }[],
  ): Promise<void> {
    return this.purchase.layOut(tx, matchId, sectors);
  }
  remaining(matchId: string): Promise<RemainingSeats> {
    return this.purchase.seatsLeft(matchId);
  }
  countRemaining(matchId: string): Promise<RemainingSeats> {
    return this.purchase.seatsLeftNow(matchId);
  }
  hasRemaining(tx: Transaction, matchId: string): Promise<boolean> {
    return this.purchase.hasSeatsLeft(tx, matchId);
  }
}

/** The queues, in the waiting-room context. */
export class DelegatingQueues extends Queues {
  constructor(private readonly waitingRoom: WaitingRoomApi) {
    super();
  }
  sync(match: Match, usefulWindows?: number): Promise<void> {
    return this.waitingRoom.sync(match, usefulWindows);
  }
  reportRemaining(
    matchId: string,
    sectors: readonly { sectorId: string; name: string; available: number }[],
    asOf: number,
  ): Promise<void> {
    return this.waitingRoom.reportRemaining(
      matchId,
      sectors.map(({ sectorId, name, available }) => ({ sector_id: sectorId, name, available })),
      asOf,
    );
  }
  withQueueLock<T>(matchId: string, work: () => Promise<T>): Promise<T> {
    return this.waitingRoom.withQueueLock(matchId, work);
  }
}

/** The figures of a match, from the purchase context and the waiting room. */
export class DelegatingMatchNumbers extends MatchNumbers {
  constructor(
    private readonly purchase: PurchaseApi,
    private readonly waitingRoom: WaitingRoomApi,
  ) {
    super();
  }
  seats(matchId: string): Promise<SeatTotals> {
    return this.purchase.report(matchId);
  }
  async queue(match: Match): Promise<QueueTotals | null> {
    const status = match.queueRequired ? await this.waitingRoom.figures(match.id) : undefined;
    if (!status) return null;
    const { total, open_windows = 0, granted = 0, completed = 0, expired = 0 } = status;
    return { waiting: total, openWindows: open_windows, granted, completed, expired };
  }
}
