import type { Transaction } from '#application/transaction-manager';

/** A seat of ours that a partner has reported as sold. */
export interface PartnerSoldSeat {
  readonly seatId: string;
  readonly sectorId: string;
  /** A seat whose hold has expired is `available`. */
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
  readonly heldUntil: Date | null;
  /** The partner's sale that blocked this seat. Undefined if no partner's sale blocked it. */
  readonly soldBy: { readonly source: string; readonly reference: string } | undefined;
}

/** A partner's sale as it is stored with the seats that it blocks. */
export interface RecordedPartnerSale {
  readonly source: string;
  readonly eventId: string;
  readonly reference: string;
  readonly matchId: string;
}

/** Storage of the seats that partners have sold. */
export abstract class PartnerSoldSeats {
  /** Locks the seats until the transaction ends. Seats that are not of this match are missing from the result. */
  abstract lock(tx: Transaction, matchId: string, seatIds: readonly string[]): Promise<readonly PartnerSoldSeat[]>;
  /** Takes the seats off sale and stores the partner's sale. */
  abstract block(tx: Transaction, sale: RecordedPartnerSale, seats: readonly PartnerSoldSeat[]): Promise<void>;
}

/**
 * Broadcasts to all processes that seats were blocked, so that they do not propose them. Only a hint: if it gets lost, a process
 * may propose such a seat, and the database refuses it.
 */
export abstract class SeatHints {
  abstract gone(seats: readonly Pick<PartnerSoldSeat, 'seatId' | 'sectorId'>[]): void;
}
