import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

export interface SeatCounts {
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

export interface MatchReport extends SeatCounts {
  readonly refunded: number;
  readonly revenueCents: number;
  readonly orders: Readonly<Record<string, number>>;
}

export interface SeatsLeft {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly free: number;
  readonly held: number;
  /**
   * How many windows may be open: one for each free seat, and those that hold seats already. Idle windows come on top, so that they
   * keep no seat from the fans behind them.
   */
  readonly usefulWindows: number;
  /** When it was counted, in milliseconds on the database's clock. */
  readonly countedAtMs: number;
}

/** What operations ask of the purchase. */
export abstract class PurchaseApi {
  /** Puts the places of a new match up for sale. */
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; places: readonly SeatGeometry[] }[],
  ): Promise<void>;
  /** At most a second old. */
  abstract left(matchId: string): Promise<SeatsLeft>;
  /** With everything that was committed before it was asked. */
  abstract leftNow(matchId: string): Promise<SeatsLeft>;
  /** Is a seat free, or held? As it is in this transaction. */
  abstract anyLeft(tx: Transaction, matchId: string): Promise<boolean>;
  /** A ticket of this match counts for `to` and no longer for `from`; answers how many seats `to` had before. */
  abstract handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number>;
  /** Where these fans wanted their tickets of this match sent; who bought none is missing. */
  abstract addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  abstract report(matchId: string): Promise<MatchReport>;
}
