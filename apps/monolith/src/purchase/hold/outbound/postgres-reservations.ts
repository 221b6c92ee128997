import type { Transaction } from '#application/transaction-manager';
import { reservationStatusAt, type ReservationStatus } from '#domain/purchase/reservation';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Reservation } from '../../application/ports.ts';
import type { Reservations, ExpiredBatch } from '../application/reservation-ports.ts';
import { freedStatus, seatIsFree, seatIsHeld, seatIsUnusedInQuota } from '../../seat-is-free.api.ts';
import { COMPLETE_HOLDS, completeHoldsParameters, LOCK_COMPLETABLE_HOLDS } from './complete-holds.sql.ts';
import { expireDueReservations } from './expire-due.ts';
import { UNPAID_COUNT_FROM_NOW } from './fan-seats.sql.ts';
import { countReservation, keepCounted } from './postgres-fan-seats.ts';
import { LOCK_RESERVATION, LOCK_UNLOCKED_RESERVATIONS, READ_RESERVATION, type ReservationRow } from './reservation-rows.sql.ts';

/**
 * The reservation with its status at the time of the read: `expired` from its expiry on, also before the expiry sweeper ends it.
 */
export function asReservation({ asOf, ...row }: ReservationRow): Reservation {
  return { ...row, status: reservationStatusAt(row.status, row.expiresAt, asOf) };
}

/** SQL: the seat is still held by the reservation `$2`, or it is free for the public. */
const SELLABLE_TO_PUBLIC = `(${seatIsFree('seats')} or (status = 'held' and reservation_id = $2))`;
/** SQL: the place is still held by the reservation `$2`, or nobody has it and it is still bound to the invitation `$3`. */
const SELLABLE_TO_INVITATION = `((${seatIsHeld('seats')} and reservation_id = $2) or (bound_to = $3 and ${seatIsUnusedInQuota('seats')}))`;

export class PostgresReservations implements Reservations {
  constructor(private readonly dataSource: DataSource) {}

  async find(reservationId: string): Promise<Reservation | undefined> {
    const [row] = await runUnprepared<ReservationRow[]>(this.dataSource, READ_RESERVATION.with({ id: reservationId }));
    return row && asReservation(row);
  }

  async lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined> {
    const [row] = await inside(tx).rows<ReservationRow>(LOCK_RESERVATION.with({ id: reservationId }));
    return !row || (userId !== undefined && row.userId !== userId) ? undefined : asReservation(row);
  }

  async lockSkippingLocked(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    const rows = await inside(tx).rows<ReservationRow>(LOCK_UNLOCKED_RESERVATIONS.with({ ids: reservationIds }));
    return new Map(rows.map((row) => [row.id, asReservation(row)]));
  }

  async setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void> {
    const endedAt = status === 'held' || status === 'ordered' ? 'null' : 'now()';
    // A release puts the reservation into the index that lists ended reservations (LIST_RESERVATIONS).
    const released = status === 'released' ? ', released = true' : '';
    const update = `update reservations set status = $2, ended_at = ${endedAt}${released} where id = $1`;
    // Only now it is certain that the order is paid: a payment that comes too late may be refunded after its seats were counted.
    const paid = `with paid as (${update} returning user_id, match_id, invitation_id)
      update fan_seats f set ${UNPAID_COUNT_FROM_NOW} from paid
      where f.user_id = paid.user_id and f.match_id = paid.match_id and paid.invitation_id is null`;
    await inside(tx).rows(status === 'completed' ? paid : update, [reservationId, status]);
  }

  async freeSeats(tx: Transaction, reservationId: string): Promise<void> {
    await inside(tx).rows(
      `update seats set status = ${freedStatus('seats')}, reservation_id = null, expires_at = null
       where id = any(array(select unnest(seat_ids) from reservations where id = $1)) and reservation_id = $1 and status = 'held'`,
      [reservationId],
    );
  }

  async sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean> {
    const seatIds = reservation.seats.map(({ seatId }) => seatId);
    const { id, invitationId } = reservation;
    const lock = (isSellable: string): string =>
      `select ${isSellable} as "isSellable" from seats where id = any($1::uuid[]) order by id for update`;
    const locked = await inside(tx).rows<{ isSellable: boolean }>(
      lock(invitationId ? SELLABLE_TO_INVITATION : SELLABLE_TO_PUBLIC),
      [seatIds, id, ...(invitationId ? [invitationId] : [])],
    );
    if (locked.length !== seatIds.length || !locked.every(({ isSellable }) => isSellable)) return false;
    const sell = `update seats set status = 'sold', reservation_id = $2, expires_at = null where id = any($1::uuid[])`;
    await inside(tx).rows(sell, [seatIds, reservation.id]);
    return true;
  }

  async staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean> {
    return reservation.invitationId !== null || keepCounted(tx, reservation);
  }

  async countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean> {
    if (reservation.invitationId !== null) return true;
    return countReservation(tx, { ...reservation, quantity: reservation.seats.length }, limit);
  }

  async lockComplete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    if (reservations.length === 0) return new Set();
    const rows = await inside(tx).rows<{ id: string }>(LOCK_COMPLETABLE_HOLDS.with(completeHoldsParameters(reservations)));
    return new Set(rows.map(({ id }) => id));
  }

  async complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(COMPLETE_HOLDS.with(completeHoldsParameters(reservations)));
    return new Set(rows.map(({ id }) => id));
  }

  async unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]> {
    const rows = await inside(tx).rows<{ id: string }>(
      `select id from reservations where session_token = any($1) and status = 'held' and expires_at > now() order by id for update`,
      [sessionTokens],
    );
    return rows.map(({ id }) => id);
  }

  expireDueReservations(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch> {
    return expireDueReservations(this.dataSource, limit, after);
  }
}
