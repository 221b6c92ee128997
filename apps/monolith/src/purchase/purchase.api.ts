import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';

/** How many seats of a match are in each state. */
export interface SeatCounts {
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

/** The sales numbers of a match for operators: seats, refunded tickets, revenue, and orders by status. */
export interface MatchReport extends SeatCounts {
  readonly refunded: number;
  readonly revenueCents: number;
  readonly orders: Readonly<Record<string, number>>;
}

/** The remaining seats of a match for the public, without those of quotas: how many are free or held, and how many turns the waiting room may have open. */
export interface SeatsLeft {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly free: number;
  readonly held: number;
  /**
   * How many purchase windows (turns) may be open: one for each free seat, plus the windows that hold seats, plus the idle
   * windows. A window is idle if it has held nothing for a while; no free seat is kept for it, so it does not delay the fans
   * behind it in the line.
   */
  readonly usefulWindows: number;
  /** Time of the count, in milliseconds on the database's clock. */
  readonly countedAtMs: number;
}

/** A sector of a new match, with the seats to create. */
export interface NewSectorSeats {
  readonly sectorId: string;
  readonly seats: readonly SeatGeometry[];
}

/** A fan accepts a ticket of an order that another fan has bought. */
export interface AcceptedTicket {
  readonly matchId: string;
  readonly orderId: string;
  readonly userId: string;
}

/** The functions of `purchase` that other contexts may call. */
export abstract class PurchaseApi {
  /** Creates the seats of a new match. */
  abstract layOut(tx: Transaction, matchId: string, sectors: readonly NewSectorSeats[]): Promise<void>;
  /** The remaining seats; the result may be up to one second old. */
  abstract seatsLeft(matchId: string): Promise<SeatsLeft>;
  /** The remaining seats, including everything that was committed before this call. */
  abstract seatsLeftNow(matchId: string): Promise<SeatsLeft>;
  /** True if the public may still get a seat: it is free, or held and not of a quota. Read in this transaction. */
  abstract hasSeatsLeft(tx: Transaction, matchId: string): Promise<boolean>;
  /**
   * Counts the accepted ticket for its new owner. It goes on counting for all who had it before. Returns how many seats the fan had
   * before. Undefined for a ticket of a quota, which counts for nobody.
   */
  abstract countAccepted(tx: Transaction, accepted: AcceptedTicket): Promise<number | undefined>;
  /** Whether the fan ever held seats. */
  abstract isBuyer(tx: Transaction, userId: string): Promise<boolean>;
  /** User id → email address to which the tickets of this match were sent. Fans who bought no tickets are missing. */
  abstract addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The sales numbers of a match, counted now. */
  abstract report(matchId: string): Promise<MatchReport>;
}
