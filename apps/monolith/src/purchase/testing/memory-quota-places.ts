import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import {
  PlacesNotFree,
  QuotaPlacesApi,
  type BoundPlaces,
  type Claim,
  type ClaimResult,
  type ClaimState,
  type FreePlace,
  type MovedPlaces,
  type PlaceCounts,
  type PlaceLabel,
  type PlaceMove,
  type PlaceOwner,
} from '../quota-places.api.ts';
import type { ClaimPlaces } from '../quota-places/claim-places.ts';
import { isFree, isHeld, isUnusedInQuota, tables, type ReservationRow, type SeatRow } from './memory-tables.ts';

/** Protections of the real adapter. A negative control switches one off. */
export interface QuotaPlacesGuards {
  /** A move takes only places that are free. */
  readonly movesOnlyFree: boolean;
  /** A place that is bound already is not bound again. */
  readonly bindsOnlyUnbound: boolean;
  /** The end of an invitation sees that a fan holds its places. */
  readonly endsSeeHolds: boolean;
}

const ALL_GUARDS: QuotaPlacesGuards = { movesOnlyFree: true, bindsOnlyUnbound: true, endsSeeHolds: true };

const isFreeForOwner = (seat: SeatRow, now: number): boolean => isFree(seat, now) || isUnusedInQuota(seat, now);

/** Does the same as postgres-quota-places.ts, statement by statement, on the simulated database. Claims are those of `ClaimPlaces`. */
export class MemoryQuotaPlaces extends QuotaPlacesApi {
  constructor(
    private readonly db: SimulatedDatabase,
    private readonly claims: Pick<ClaimPlaces, 'hold' | 'endHold'>,
    private readonly guards: QuotaPlacesGuards = ALL_GUARDS,
  ) {
    super();
  }

  async free(owner: {
    readonly matchId: string;
    readonly quotaId: PlaceOwner;
    readonly sectorIds?: readonly string[];
  }): Promise<readonly FreePlace[]> {
    const now = this.db.scheduler.nowMs;
    const { matchId, quotaId, sectorIds } = owner;
    const free = this.db.rows(
      tables.seats,
      (seat) => seat.matchId === matchId && seat.quotaId === quotaId && seat.boundTo === null && isFreeForOwner(seat, now),
    );
    // The simulated step comes after the read, so the places may be taken when the read returns.
    await this.db.scheduler.step(`reads the free places of ${quotaId ?? 'the public'}`);
    return free
      .filter(({ sectorId }) => !sectorIds || sectorIds.includes(sectorId))
      .sort((a, b) => (a.sectorId < b.sectorId ? -1 : a.sectorId > b.sectorId ? 1 : a.rank - b.rank))
      .map(({ id, sectorId, row, number, rowIndex, rank }) => ({ seatId: id, sectorId, row, number, rowIndex, rank }));
  }

  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await this.db.scheduler.step('reads the sectors of places');
    const seats = seatIds.flatMap((id) => this.db.read(tables.seats, id) ?? []);
    return new Map(seats.filter((seat) => seat.matchId === matchId).map(({ id, sectorId }) => [id, sectorId]));
  }

  async labelsOf(seatIds: readonly string[]): Promise<ReadonlyMap<string, PlaceLabel>> {
    await this.db.scheduler.step('reads the labels of places');
    const seats = seatIds.flatMap((id) => this.db.read(tables.seats, id) ?? []);
    return new Map(seats.map(({ id, row, number }) => [id, { seatId: id, row, number }]));
  }

  async move(tx: Transaction, { matchId, from, to, seatIds, boundTo }: PlaceMove): Promise<MovedPlaces> {
    const status = to === null ? 'available' : 'blocked';
    const moved = await this.changeEach(
      tx,
      seatIds,
      (seat, now) =>
        seat.matchId === matchId &&
        seat.quotaId === from &&
        seat.boundTo === (boundTo ?? null) &&
        (isFreeForOwner(seat, now) || !this.guards.movesOnlyFree),
      () => ({ quotaId: to, boundTo: null, reservationId: null, expiresAtMs: null, status }),
    );
    if (moved.length < seatIds.length) throw new PlacesNotFree(moved.length, seatIds.length);
    return { matchId, sectorIds: [...new Set(moved.map(({ sectorId }) => sectorId))] };
  }

  /** The simulated hold queue reads a sector again when it has no free seat to propose. */
  announce(_moved: readonly MovedPlaces[]): void {}

  async bind(tx: Transaction, quotaId: string, bound: readonly BoundPlaces[]): Promise<void> {
    const owners = ownersOf(bound);
    if (owners.size === 0) return;
    const changed = await this.changeEach(
      tx,
      [...owners.keys()],
      (seat, now) =>
        seat.quotaId === quotaId && (seat.boundTo === null || !this.guards.bindsOnlyUnbound) && isUnusedInQuota(seat, now),
      ({ id }) => ({ boundTo: owners.get(id) ?? null, status: 'blocked', reservationId: null, expiresAtMs: null }),
    );
    if (changed.length < owners.size) throw new PlacesNotFree(changed.length, owners.size);
  }

  async unbind(tx: Transaction, bound: readonly BoundPlaces[]): Promise<readonly string[]> {
    const owners = ownersOf(bound);
    if (owners.size === 0) return [];
    const unbound = await this.changeEach(
      tx,
      [...owners.keys()],
      ({ id, boundTo, status }) => boundTo === owners.get(id) && status !== 'sold',
      (seat, now) =>
        isHeld(seat, now) ? { boundTo: null } : { boundTo: null, status: 'blocked', reservationId: null, expiresAtMs: null },
    );
    return unbound.filter(({ status }) => status === 'blocked').map(({ id }) => id);
  }

  async counts(of: { readonly matchId: string } | { readonly quotaIds: readonly string[] }): Promise<readonly PlaceCounts[]> {
    await this.db.scheduler.step('counts places');
    const now = this.db.scheduler.nowMs;
    const seats = this.db.rows(tables.seats, ({ matchId, quotaId }) =>
      'matchId' in of ? matchId === of.matchId : quotaId !== null && of.quotaIds.includes(quotaId),
    );
    const counts = new Map<string, PlaceCounts>();
    for (const seat of seats) {
      const { quotaId, sectorId } = seat;
      const key = `${quotaId} ${sectorId}`;
      const before = counts.get(key) ?? { quotaId, sectorId, total: 0, free: 0, invited: 0, held: 0, sold: 0 };
      const state = this.stateOf(seat, now);
      counts.set(key, { ...before, total: before.total + 1, ...(state ? { [state]: before[state] + 1 } : {}) });
    }
    return [...counts.values()];
  }

  /** Undefined for a place of the public that a partner has blocked. */
  private stateOf(seat: SeatRow, now: number): 'free' | 'invited' | 'held' | 'sold' | undefined {
    if (seat.status === 'sold') return 'sold';
    if (isHeld(seat, now)) return 'held';
    if (!isFreeForOwner(seat, now)) return undefined;
    if (seat.boundTo === null) return 'free';
    return this.db.read(tables.moveRequests, seat.boundTo) ? 'held' : 'invited';
  }

  hold(tx: Transaction, claim: Claim): Promise<ClaimResult> {
    return this.claims.hold(tx, claim);
  }

  endHold(tx: Transaction, reservationId: string): Promise<'ended' | 'paid' | 'over'> {
    return this.claims.endHold(tx, reservationId);
  }

  async claimStates(reservationIds: readonly string[], tx?: Transaction): Promise<ReadonlyMap<string, ClaimState>> {
    const open = tx && inside(tx);
    await (open ? open.statement('reads the states of claims') : this.db.scheduler.step('reads the states of claims'));
    const now = open?.now.getTime() ?? this.db.scheduler.nowMs;
    const states = new Map<string, ClaimState>();
    for (const id of reservationIds) {
      const row = open ? open.get(tables.reservations, id) : this.db.read(tables.reservations, id);
      if (!row) continue;
      const isPaid = (other: ReservationRow): boolean =>
        other.invitationId === row.invitationId && row.invitationId !== null && other.status === 'completed';
      const paid = open ? open.find(tables.reservations, isPaid) : this.db.rows(tables.reservations, isPaid);
      const isHeldNow = this.guards.endsSeeHolds && (row.status === 'held' || row.status === 'ordered') && row.expiresAtMs > now;
      states.set(id, paid.length > 0 ? 'paid' : isHeldNow ? 'held' : 'over');
    }
    return states;
  }

  /** One UPDATE: locks and changes the places that match, in the order of their ids, and returns them as they are then. */
  private async changeEach(
    tx: Transaction,
    seatIds: readonly string[],
    matches: (seat: SeatRow, now: number) => boolean,
    change: (seat: SeatRow, now: number) => Partial<SeatRow>,
  ): Promise<readonly SeatRow[]> {
    const open = inside(tx);
    const now = open.now.getTime();
    const changed: SeatRow[] = [];
    for (const seatId of seatIds.toSorted()) {
      await open.statement(`changes place ${seatId}`);
      const seen = open.get(tables.seats, seatId);
      if (!seen || !matches(seen, now)) continue;
      await open.change(tables.seats, seatId, change(seen, now));
      changed.push({ ...seen, ...change(seen, now) });
    }
    return changed;
  }
}

function ownersOf(bound: readonly BoundPlaces[]): ReadonlyMap<string, string> {
  return new Map(bound.flatMap(({ boundTo, seatIds }) => seatIds.map((seatId) => [seatId, boundTo] as const)));
}
