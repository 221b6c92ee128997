import type { Transaction } from '#application/transaction-manager';

/** A seat of ours that somebody else says to have sold. */
export interface ElsewhereSeat {
  readonly seatId: string;
  readonly sectorId: string;
  /** A hold that is over holds nothing. */
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  readonly heldUntil: Date | null;
  /** Of a blocked one: who told that they had sold it, if anybody did. */
  readonly soldBy: { readonly source: string; readonly reference: string } | undefined;
}

export interface ToldSale {
  readonly source: string;
  readonly eventId: string;
  readonly reference: string;
  readonly matchId: string;
}

export abstract class SeatsElsewhere {
  /** Those of this match, locked until the transaction ends. */
  abstract lock(tx: Transaction, matchId: string, seatIds: readonly string[]): Promise<readonly ElsewhereSeat[]>;
  /** No longer for sale; by whom is remembered. */
  abstract block(tx: Transaction, sale: ToldSale, seats: readonly ElsewhereSeat[]): Promise<void>;
}

/** Told to whoever sells, so that nobody proposes a seat that is gone. Only hints: without them the database says no. */
export abstract class SeatHints {
  abstract gone(seats: readonly Pick<ElsewhereSeat, 'seatId' | 'sectorId'>[]): void;
}
