import type { Transaction } from '#application/transaction-manager';
import type { Reservation } from '#contracts/reservations';

/** The owner of places: the id of a quota, or null for the public. */
export type PlaceOwner = string | null;

/** A place that is free in its quota, or for sale to the public, with its position. */
export interface FreePlace {
  readonly seatId: string;
  readonly sectorId: string;
  /** Null for a standing place. */
  readonly row: string | null;
  readonly number: number | null;
  /** The rows of a sector, from 0, from the pitch upwards. */
  readonly rowIndex: number;
  /** Position in the sector, from the best place to the worst. It never changes. */
  readonly rank: number;
}

/** A move of places of one match from one owner to another. */
export interface PlaceMove {
  readonly matchId: string;
  readonly from: PlaceOwner;
  readonly to: PlaceOwner;
  readonly seatIds: readonly string[];
  /**
   * The pending move or the invitation that the places are bound to now; without it they must be bound to nothing. The places are
   * bound to nothing afterwards.
   */
  readonly boundTo?: string;
}

/** Places that a move has given another owner, for `announce`. */
export interface MovedPlaces {
  readonly matchId: string;
  readonly sectorIds: readonly string[];
}

/** An invitation, or a move that waits for an approval, and its places. */
export interface BoundPlaces {
  readonly boundTo: string;
  readonly seatIds: readonly string[];
}

/** The places of one owner in one sector. total = free + invited + held + sold, and for the public also those blocked by partners. */
export interface PlaceCounts {
  /** Null for the public. */
  readonly quotaId: PlaceOwner;
  readonly sectorId: string;
  readonly total: number;
  readonly free: number;
  /** Bound to an invitation, and not held or sold. */
  readonly invited: number;
  /** Held by a fan, or bound to a move that waits for an approval. */
  readonly held: number;
  readonly sold: number;
}

/** A fan's claim of an invitation. */
export interface Claim {
  readonly invitationId: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly seatIds: readonly string[];
  readonly userId: string;
  /** The price of each place, 0 is allowed; null for the price of the sector. */
  readonly priceCents: number | null;
  /** The hold ends at this time at the latest. It ends earlier if the ordinary time of a hold is over before. */
  readonly until: Date;
}

/**
 * The result of a claim.
 * - `held`: the fan holds, has ordered or has bought the places with this reservation. `isNew`: the claim has made it.
 * - `taken`: another fan holds or has bought the places of the invitation.
 * - `over`: the places are not bound to the invitation any more, or `until` has passed.
 */
export type ClaimResult =
  | { readonly kind: 'held'; readonly reservation: Reservation; readonly isNew: boolean }
  | { readonly kind: 'taken' }
  | { readonly kind: 'over' };

/**
 * What has become of a claim: `held` until its hold ends or is paid, `over` if its hold ended unpaid, and `paid` once this or an
 * earlier claim of the invitation is paid, also if the tickets are refunded. A late payment can still make `paid` of `over`.
 */
export type ClaimState = 'held' | 'paid' | 'over';

/** How a place is named inside its sector. Row and number are null for a standing place. */
export type PlaceLabel = Pick<FreePlace, 'seatId' | 'row' | 'number'>;

/**
 * Some of the places are not free in their quota any more, because somebody was faster. The transaction must be rolled back; the
 * caller reads the free places again and chooses others.
 */
export class PlacesNotFree extends Error {
  constructor(
    /** How many of the places were free. */
    readonly free: number,
    readonly wanted: number,
  ) {
    super(`only ${free} of ${wanted} places are free`);
  }
}

/**
 * Everything of quotas that touches places, holds and orders. A method with `tx` works in the caller's SERIALIZABLE transaction.
 *
 * How a caller moves or binds places:
 * 1. Outside the transaction: read the free places with `free`, and choose. In the transaction this read would conflict with each
 *    buyer, because it reads ranges of seats.
 * 2. In the transaction: `move` or `bind` exactly the chosen places. These methods reach rows by key and check each place again.
 *    They throw `PlacesNotFree` if a place has been taken: let the transaction fail, and begin again with step 1.
 * 3. After the commit of a move: `announce`.
 *
 * For many places of the public this is too slow: while 8,000 rows are moved, buyers always take one of them, and at SERIALIZABLE a
 * changed row fails the transaction. Call `announceMoving` after step 1, and in step 2 `moveFree` in a transaction at READ COMMITTED;
 * then replace the places that went.
 */
export abstract class QuotaPlacesApi {
  /** The free places of an owner, committed until now; of all sectors without `sectorIds`. Sorted by sector and rank. */
  abstract free(owner: {
    readonly matchId: string;
    readonly quotaId: PlaceOwner;
    readonly sectorIds?: readonly string[];
  }): Promise<readonly FreePlace[]>;

  /** Seat id → sector id of those of these places that are in the match, also if they belong to a quota. */
  abstract sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /** Seat id → its label, for the places of any match that exist. */
  abstract labelsOf(seatIds: readonly string[]): Promise<ReadonlyMap<string, PlaceLabel>>;

  /**
   * Gives all these places another owner, or throws `PlacesNotFree`. The rows are locked in the order of their ids, so two moves of
   * the same places cannot both succeed. Write the row of the ledger after this call: then `seq` ascends with the moves of a place.
   */
  abstract move(tx: Transaction, move: PlaceMove): Promise<MovedPlaces>;

  /**
   * Tells the sale that these free places of the public (ids by sector) will be moved now. For 5 s it proposes them to no buyer, or
   * until `announce`. Without it buyers would try again and again to get places that the move has locked: `SEATS_BUSY`.
   */
  abstract announceMoving(seatIds: Readonly<Record<string, readonly string[]>>): void;

  /**
   * Moves those of these places that are still free, and returns the ids of the others. For transactions at READ COMMITTED. `waits`:
   * it waits for rows that others have locked, in the order of their ids; only one call in a transaction may do that, the first.
   * Without it such a place counts as not free. The ledger as for `move`.
   */
  abstract moveFree(tx: Transaction, move: PlaceMove, how: { readonly waits: boolean }): Promise<readonly string[]>;

  /** Call this after the commit of moves: the seat maps and the sale in all processes learn of them. */
  abstract announce(moved: readonly MovedPlaces[]): void;

  /**
   * Binds free places of a quota: each element to its invitation or pending move. Binds all of them, or throws `PlacesNotFree`. One
   * statement, also for many invitations.
   */
  abstract bind(tx: Transaction, quotaId: string, bound: readonly BoundPlaces[]): Promise<void>;

  /**
   * Unbinds the places of ended invitations and pending moves. A sold place stays as it is. A held place stays held, and is free in
   * its quota when its hold ends unpaid. Returns the ids of the places that are free in their quota now.
   */
  abstract unbind(tx: Transaction, bound: readonly BoundPlaces[]): Promise<readonly string[]>;

  /**
   * Counts places by owner and sector: those of these quotas, or all of a match, the public included. Owners and sectors without
   * places are missing.
   */
  abstract counts(of: { readonly matchId: string } | { readonly quotaIds: readonly string[] }): Promise<readonly PlaceCounts[]>;

  /**
   * Holds the places of an invitation for a fan. The same fan gets the same reservation again while it is living or paid. Refuses
   * with `BLACKLISTED`, and with `SALE_NOT_OPEN` in a closed or cancelled sale.
   */
  abstract hold(tx: Transaction, claim: Claim): Promise<ClaimResult>;

  /**
   * Ends the hold of a claim that is withdrawn: a later checkout is `RESERVATION_EXPIRED`, and an order that awaits its payment is
   * cancelled with its intent. `paid`: nothing was changed, because the fan has paid. `over`: the hold had ended before. Call it
   * before `unbind`.
   */
  abstract endHold(tx: Transaction, reservationId: string): Promise<'ended' | 'paid' | 'over'>;

  /** Reservation id → the state of that claim, as of the latest commit or as `tx` reads it. */
  abstract claimStates(reservationIds: readonly string[], tx?: Transaction): Promise<ReadonlyMap<string, ClaimState>>;
}
