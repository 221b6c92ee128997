import type { Transaction } from '#application/transaction-manager';
import type { Place } from '#domain/catalog/stadium-layout';
import type { SeatInventory } from '../application/ports.ts';
import { PurchaseApi, type MatchReport, type SeatCounts } from '../purchase.api.ts';
import { countHandover } from './postgres-fan-seats.ts';
import type { PurchaseReader } from '../application/ports.ts';

/** The purchase's own answers to other contexts. */
export class PurchaseDesk extends PurchaseApi {
  constructor(
    private readonly inventory: SeatInventory,
    private readonly reader: PurchaseReader,
  ) {
    super();
  }

  layOut(tx: Transaction, matchId: string, sectors: readonly { sectorId: string; places: readonly Place[] }[]): Promise<void> {
    return this.inventory.layOut(tx, matchId, sectors);
  }

  handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number> {
    return countHandover(tx, change);
  }

  addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.reader.addresses(matchId, userIds);
  }

  async availability(matchId: string): Promise<ReadonlyMap<string, SeatCounts>> {
    return new Map((await this.inventory.states(matchId)).map((state) => [state.sectorId, state]));
  }

  async report(matchId: string): Promise<MatchReport> {
    const [states, totals] = await Promise.all([this.inventory.states(matchId), this.reader.totals(matchId)]);
    const sum = (pick: (state: SeatCounts) => number): number => states.reduce((total, state) => total + pick(state), 0);
    return {
      available: sum((state) => state.available),
      held: sum((state) => state.held),
      sold: sum((state) => state.sold),
      blocked: sum((state) => state.blocked),
      refunded: totals.refundedSeats,
      revenueCents: totals.revenueCents,
      orders: totals.orders,
    };
  }
}
