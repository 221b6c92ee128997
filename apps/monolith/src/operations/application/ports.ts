import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

export type Match = CatalogMatch;
export type Sector = CatalogSector;

/** The catalogue, as operators read and change it. */
export abstract class Catalog {
  abstract match(matchId: string, tx?: Transaction): Promise<Match | undefined>;
  abstract sectors(matchId: string): Promise<readonly Sector[]>;
  abstract add(tx: Transaction, match: Match, sectors: readonly Sector[]): Promise<void>;
  abstract update(tx: Transaction, matchId: string, change: Partial<Omit<Match, 'id'>>): Promise<void>;
}

/** The seats that a match can still sell. */
export interface RemainingSeats {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly free: number;
  readonly held: number;
  /**
   * How many windows (turns) may be open so that each can still find a seat: one for each free seat, plus the windows that hold
   * seats, plus the idle windows.
   */
  readonly usefulWindows: number;
  /** The time of the count, in milliseconds of the database's clock. */
  readonly countedAtMs: number;
}

/** The seats of matches, which the purchase context owns. */
export abstract class Seats {
  /** Returns a count that is up to a second old: good enough to inform fans, not to change a sale. */
  abstract remaining(matchId: string): Promise<RemainingSeats>;
  /** Returns a count that starts after this call. */
  abstract countRemaining(matchId: string): Promise<RemainingSeats>;
  /** True if a seat is free or held, read in this transaction. */
  abstract hasRemaining(tx: Transaction, matchId: string): Promise<boolean>;
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; seats: readonly SeatGeometry[] }[],
  ): Promise<void>;
}

/**
 * The queues of the waiting room, one for each match that needs one. An operator's change is sent to the waiting room before it
 * is committed, so a change that the waiting room refuses changes nothing.
 */
export abstract class Queues {
  /** Sends the state of the match to the waiting room. Without `usefulWindows`, the useful windows are counted. */
  abstract sync(match: Match, usefulWindows?: number): Promise<void>;
  abstract reportRemaining(
    matchId: string,
    sectors: readonly { sectorId: string; name: string; available: number }[],
    asOf: number,
  ): Promise<void>;
  /** Runs one change of a match's queue at a time, over all replicas. */
  abstract withQueueLock<T>(matchId: string, work: () => Promise<T>): Promise<T>;
}

/** The seats, orders and revenue of a match. */
export interface SeatTotals {
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  readonly refunded: number;
  readonly revenueCents: number;
  readonly orders: Readonly<Record<string, number>>;
}

/** How many fans wait, and what became of the turns of a match. */
export interface QueueTotals {
  readonly waiting: number;
  readonly openWindows: number;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
}

/**
 * The figures of a match for operators. The figures of its queue are null if the match has no queue or the queue service does not
 * answer.
 */
export abstract class MatchNumbers {
  abstract seats(matchId: string): Promise<SeatTotals>;
  abstract queue(match: Match): Promise<QueueTotals | null>;
}
