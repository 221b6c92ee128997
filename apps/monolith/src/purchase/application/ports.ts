import type { Transaction } from '#application/transaction-manager';
import type { OrderStatus } from '#domain/purchase/order';
import type { ReservationStatus } from '#domain/purchase/reservation';
import type { Place } from '#domain/catalog/stadium-layout';
import type { SaleStatus } from '#domain/catalog/sale';
import type { Money } from '#domain/shared/money';

export interface MatchForSale {
  readonly id: string;
  readonly name: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
}

export interface SectorForSale {
  readonly id: string;
  readonly matchId: string;
  readonly name: string;
  readonly kind: 'seated' | 'standing';
  readonly gate: string | null;
  readonly priceCents: number;
  readonly currency: string;
  readonly capacity: number;
}

/** What is for sale, from the catalogue. */
export abstract class MatchesForSale {
  abstract match(matchId: string, tx?: Transaction): Promise<MatchForSale | undefined>;
  abstract sector(sectorId: string): Promise<SectorForSale | undefined>;
  abstract sectors(matchId: string): Promise<readonly SectorForSale[]>;
  /** By the sectors' names; the gate of some is not told. */
  abstract gates(matchId: string, tx: Transaction): Promise<ReadonlyMap<string, string | null>>;
}

export interface ReservedSeat {
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly priceCents: number;
}

export interface Reservation {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly status: ReservationStatus;
  readonly together: boolean;
  readonly seats: readonly ReservedSeat[];
  readonly totalCents: number;
  readonly currency: string;
  readonly expiresAt: Date;
}

export interface SectorState {
  readonly sectorId: string;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
  /** When the next hold of the sector ends; null when nothing is held. */
  readonly nextExpiryAt: Date | null;
}

export interface SeatState extends Place {
  readonly seatId: string;
  readonly status: 'available' | 'held' | 'sold' | 'blocked';
}

/** Seats as anybody may see them: a moment old, never trusted for a "yes". An expired hold reads as available. */
export abstract class SeatInventory {
  abstract layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; places: readonly Place[] }[],
  ): Promise<void>;
  /** In the order of their rows. */
  abstract seats(sectorId: string): Promise<readonly SeatState[]>;
  abstract states(matchId: string): Promise<readonly SectorState[]>;
  abstract sectorState(matchId: string, sectorId: string): Promise<SectorState & { readonly othersHaveSeats: boolean }>;
  /** Which sector each of these seats is in; unknown ones are missing. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Fans who may not buy, as this process knows them: a moment behind, so the database is asked again before anything is paid. */
export abstract class Blacklist {
  abstract has(userId: string): boolean;
}

/** A fan's wish for seats of one sector: so many of the best, or exactly these. */
export type HoldWish = {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
  readonly sector: SectorForSale;
} & ({ readonly quantity: number } | { readonly seatIds: readonly string[] });

export function wantedSeats(wish: HoldWish): number {
  return 'quantity' in wish ? wish.quantity : wish.seatIds.length;
}

export type HoldOutcome =
  | { readonly kind: 'taken'; readonly reservation: Reservation }
  /** Nothing was changed: these seats have somebody (`taken`), those were being taken this instant (`busy`). */
  | { readonly kind: 'lost'; readonly taken: readonly string[]; readonly busy: readonly string[] }
  /** Nothing was changed: so many are not to be found. Why not is for the database to say. */
  | { readonly kind: 'none' };

/**
 * Chooses seats and takes them, all or none, together with the rules that guard them: sale, window, limit. A refusal of a rule
 * is thrown, before anything is said about seats.
 */
export abstract class SeatHolds {
  abstract take(wish: HoldWish): Promise<HoldOutcome>;
}

export interface Order {
  readonly id: string;
  readonly number: string;
  readonly matchId: string;
  readonly reservationId: string;
  readonly userId: string;
  readonly sessionToken: string | null;
  readonly status: OrderStatus;
  readonly totalCents: number;
  readonly currency: string;
  readonly email: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly payment: {
    readonly provider: string;
    readonly intentId: string | null;
    readonly clientSecret: string | null;
    readonly confirmUrl: string | null;
  };
  /** The idempotency key of the checkout that made it. */
  readonly placedWithKey: string | null;
}

export interface ExpiredBatch {
  readonly looked: number;
  readonly ended: number;
  /** The last one looked at, its time in microseconds; none when there are no more. */
  readonly next?: { readonly id: string; readonly expiresAt: string } | undefined;
}

/**
 * Reservations and their seats, locked while a transaction decides about them. Whether one has expired is read off the
 * database's clock, wherever the scheduler has got to.
 */
export abstract class Reservations {
  abstract find(reservationId: string): Promise<Reservation | undefined>;
  /** Locked until the transaction ends; undefined when there is none or it is another fan's. */
  abstract lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined>;
  /** Locked, as many as nobody else has locked: waits for nobody. */
  abstract lockFree(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;
  abstract setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void>;
  /** Gives its seats back: for sale at once. */
  abstract freeSeats(tx: Transaction, reservationId: string): Promise<void>;
  /** Makes its seats sold if every one of them is still its own or free again; false and nothing changed otherwise. */
  abstract sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * A living hold still counts among its fan's seats, and whoever counted them before this gives the fan no more. False when it
   * ended, and the fan was given others, while the transaction was under way.
   */
  abstract staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean>;
  /**
   * Locks the seats and the fans of living holds. Waits for nobody: returns the ids of those that nobody else has a lock on, and
   * that `complete` will take all of.
   */
  abstract lockWhole(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /**
   * Sells the seats of living holds and ends these as completed. Waits for nobody: a hold one of whose seats is locked this
   * moment is left as it was. Returns the ids of the others.
   */
  abstract complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>>;
  /** Counts an ended hold among its fan's seats again; false when with the others they would be more than `limit`. */
  abstract countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean>;
  /** The living holds of these windows that nobody is paying for. */
  abstract unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]>;
  /**
   * Ends up to `limit` reservations whose time has come, oldest first, starting `after` the batch before. Decides nothing and
   * waits for no lock: a reservation with a locked row is left as it was.
   */
  abstract expireDue(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch>;
}

export abstract class Orders {
  /** Those of these fans for whom no order may be made or completed: the blacklist, as it is in this transaction. */
  abstract barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** "ORD-2026-001234": of this year, and never given again. */
  abstract nextNumbers(tx: Transaction, count: number): Promise<readonly string[]>;
  /** Adds them; their holds are ordered from now on. Nothing of those whose window another order has. Returns the ids of the others. */
  abstract place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>>;
  /** Locked until the transaction ends, like the next; its reservation is locked before it, by everybody. */
  abstract lock(tx: Transaction, orderId: string): Promise<Order | undefined>;
  abstract lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined>;
  /** Orders that await this payment, by intent; as many as nobody else has locked: waits for nobody. */
  abstract lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** Whose payment this is; the id of the order itself serves when the payment came before we heard of its intent. */
  abstract reservationPaid(tx: Transaction, by: { intentId?: string; orderId?: string }): Promise<string | undefined>;
  /** The order that has this window: it is being paid, or was. */
  abstract inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined>;
  /** For an order that had given its window up; false when another one has it by now. */
  abstract reclaimWindow(tx: Transaction, order: Order): Promise<boolean>;
  abstract giveUpWindow(tx: Transaction, order: Order): Promise<void>;
  abstract setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void>;
  /** For orders that await payment and have no intent. Waits for nobody; returns the ids of those it could. */
  abstract setFirstIntents(
    tx: Transaction,
    intents: readonly { readonly orderId: string; readonly payment: Order['payment'] }[],
  ): Promise<ReadonlySet<string>>;
  abstract setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void>;
  abstract note(tx: Transaction, orderId: string, event: string): Promise<void>;
  /** Removes an order that was never paid and never shown to its fan, with its timeline. */
  abstract remove(tx: Transaction, orderId: string): Promise<void>;
}

export abstract class Payments {
  /** Rejects with `PAYMENT_REFUSED` when the provider takes no payment for this order; anything else may be tried again. */
  abstract createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<{
    provider: string;
    intentId: string;
    clientSecret: string;
    confirmUrl?: string;
  }>;
}

export interface CompletedOrder {
  readonly order: Order;
  readonly reservation: Reservation;
}

/** What follows from an order's fate, in the transaction that decides it: tickets, the end of the turn, what is told to whom. */
export abstract class OrderConsequences {
  abstract completed(tx: Transaction, completed: readonly CompletedOrder[]): Promise<void>;
  /** All that was paid goes back, which may be another amount than was asked for. */
  abstract refunded(tx: Transaction, order: Order, paid: Money): Promise<void>;
  abstract cancelled(tx: Transaction, order: Order): Promise<void>;
}

export interface ProviderEvent {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  readonly outcome: string;
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** Remembers the provider's events. */
export abstract class PaymentInbox {
  /** False when this one has already taken effect. */
  abstract remember(tx: Transaction, event: ProviderEvent): Promise<boolean>;
  /** Fails, and the transaction with it, when one of them has. */
  abstract rememberNew(tx: Transaction, events: readonly ProviderEvent[]): Promise<void>;
}
