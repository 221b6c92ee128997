import type { Transaction } from '#application/transaction-manager';
import type { SaleStatus } from '#domain/catalog/sale';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

export interface Match {
  readonly id: string;
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly opensAt: Date | null;
  readonly saleStatus: SaleStatus;
  readonly pauseReason: string | null;
  readonly cancelledAt: Date | null;
  readonly cancelReason: string | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
}

export interface Sector {
  readonly id: string;
  readonly matchId: string;
  readonly name: string;
  readonly kind: 'seated' | 'standing';
  readonly gate: string | null;
  readonly priceCents: number;
  readonly capacity: number;
}

/** The catalogue, to operators. */
export abstract class Catalog {
  abstract match(matchId: string, tx?: Transaction): Promise<Match | undefined>;
  abstract sectors(matchId: string): Promise<readonly Sector[]>;
  abstract add(tx: Transaction, match: Match, sectors: readonly Sector[]): Promise<void>;
  abstract update(tx: Transaction, matchId: string, change: Partial<Omit<Match, 'id'>>): Promise<void>;
}

/** What a match still has to sell: at most a second old, so good for telling, not for deciding. */
export interface SeatsLeft {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly free: number;
  readonly held: number;
  /** How many windows may be open: those that could find a seat or hold some, and idle ones on top. */
  readonly usefulWindows: number;
  /** When it was counted, in milliseconds on the database's clock. */
  readonly countedAtMs: number;
}

export abstract class Seats {
  abstract left(matchId: string): Promise<SeatsLeft>;
  /** Counted after it was asked. */
  abstract leftNow(matchId: string): Promise<SeatsLeft>;
  /** Is a seat free, or held? As it is in this transaction. */
  abstract anyLeft(tx: Transaction, matchId: string): Promise<boolean>;
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; places: readonly SeatGeometry[] }[],
  ): Promise<void>;
}

/** The queue of a match, told before the monolith commits: if it does not take it, nothing was changed. */
export abstract class Queues {
  /** `usefulWindows` is counted if it is not given. */
  abstract tell(match: Match, usefulWindows?: number): Promise<void>;
  abstract tellRemaining(
    matchId: string,
    sectors: readonly { sectorId: string; name: string; available: number }[],
    asOf: number,
  ): Promise<void>;
  abstract exclusively<T>(matchId: string, work: () => Promise<T>): Promise<T>;
}

export interface SeatTotals {
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  readonly refunded: number;
  readonly revenueCents: number;
  readonly orders: Readonly<Record<string, number>>;
}

export interface QueueTotals {
  readonly waiting: number;
  readonly openWindows: number;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
}

/** Where the numbers come from. The queue's are null when there is none, or when it does not answer. */
export abstract class MatchNumbers {
  abstract seats(matchId: string): Promise<SeatTotals>;
  abstract queue(match: Match): Promise<QueueTotals | null>;
}
