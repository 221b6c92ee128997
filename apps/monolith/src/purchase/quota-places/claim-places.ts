import type { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { assertInvitationsAllowed } from '#domain/catalog/sale';
import type { Reservation } from '../application/ports.ts';
import type { MatchesForSale } from '../application/sale-ports.ts';
import type { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import type { Reservations } from '../hold/application/reservation-ports.ts';
import { reservationView } from '../hold/inbound/reservation-view.ts';
import type { Claim, ClaimResult } from '../quota-places.api.ts';
import type { InvitedPlace } from './claim-places.sql.ts';
import type { InvitedPlaces } from './invited-places.ts';

/**
 * Holds the places of invitations for fans, and ends such holds. The hold is an ordinary reservation that names its invitation: it
 * needs no turn and counts for nobody. When it ends unpaid, its places are still bound to the invitation.
 */
export class ClaimPlaces {
  constructor(
    private readonly places: InvitedPlaces,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly consequences: OrderConsequences,
    private readonly matches: MatchesForSale,
    private readonly ids: Ids,
  ) {}

  async hold(tx: Transaction, claim: Claim): Promise<ClaimResult> {
    if ((await this.orders.barred(tx, [claim.userId])).size > 0) throw blacklisted();
    assertInvitationsAllowed((await this.matches.match(claim.matchId, tx))?.saleStatus);
    const places = await this.places.lock(tx, claim);
    const holder = places.find(({ reservationId }) => reservationId !== null)?.reservationId;
    if (holder) return this.heldBefore(tx, holder, claim);
    if (places.length < claim.seatIds.length || !places.every(({ isBound }) => isBound)) return { kind: 'over' };
    const reservation = await this.reserve(tx, claim, places);
    return reservation ? { kind: 'held', reservation: reservationView(reservation), isNew: true } : { kind: 'over' };
  }

  async endHold(tx: Transaction, reservationId: string): Promise<'ended' | 'paid' | 'over'> {
    const reservation = await this.reservations.lock(tx, reservationId);
    if (reservation?.status === 'completed') return (await this.places.hasSold(tx, reservation)) ? 'paid' : 'over';
    if (reservation?.status !== 'held' && reservation?.status !== 'ordered') return 'over';
    // Expired, not released: a checkout that is under way tells the fan that the reservation has expired.
    await this.reservations.setStatus(tx, reservationId, 'expired');
    const order = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservationId) : undefined;
    await this.reservations.freeSeats(tx, reservationId);
    if (order?.status !== 'awaiting_payment') return 'ended';
    await this.orders.setStatus(tx, [order.id], 'expired', ['expired']);
    await this.consequences.cancelled(tx, order);
    return 'ended';
  }

  /** The places are held or sold: with the same fan's claim of the same invitation, or with another's. */
  private async heldBefore(tx: Transaction, reservationId: string, claim: Claim): Promise<ClaimResult> {
    // Read without a lock: others lock a reservation before its seats, and the seats are locked already.
    const reservation = await this.places.reservation(tx, reservationId);
    if (reservation?.invitationId !== claim.invitationId) return { kind: 'over' };
    if (reservation.userId !== claim.userId) return { kind: 'taken' };
    return { kind: 'held', reservation: reservationView(reservation), isNew: false };
  }

  private async reserve(tx: Transaction, claim: Claim, places: readonly InvitedPlace[]): Promise<Reservation | undefined> {
    const sector = await this.matches.sector(claim.sectorId, tx);
    if (!sector) throw new Error(`invitation ${claim.invitationId} is for the unknown sector ${claim.sectorId}`);
    const id = this.ids.next();
    const { name, currency } = sector;
    const hold = { ...claim, id, sector: name, currency, together: areTogether(places) };
    const held = await this.places.hold(tx, hold);
    const [first] = held;
    if (!first) return undefined;
    // Not read again: all new reservations are on one page of the index, and a read of it conflicts with every other claim and hold.
    const { matchId, sectorId, userId, invitationId, seatIds, priceCents } = claim;
    const labels = new Map(held.map((place) => [place.seatId, place]));
    const seats = seatIds.map((seatId) => {
      const { row = null, number = null } = labels.get(seatId) ?? {};
      return { seatId, sector: name, row, number, priceCents };
    });
    const { expiresAt } = first;
    const { together } = hold;
    const totalCents = priceCents * seats.length;
    const ids = { id, matchId, sectorId, userId, sessionToken: null, invitationId };
    return { ...ids, status: 'held', together, seats, totalCents, currency, expiresAt };
  }
}

/** True if the places are neighbours in one row. Standing places have no numbers and are always together. */
function areTogether(places: readonly InvitedPlace[]): boolean {
  const numbers = places.map(({ number }) => number ?? 0);
  const isOneRow = new Set(places.map(({ rowIndex }) => rowIndex)).size <= 1;
  const isStanding = places.every(({ number }) => number === null);
  return isStanding || (isOneRow && Math.max(...numbers) - Math.min(...numbers) === places.length - 1);
}
