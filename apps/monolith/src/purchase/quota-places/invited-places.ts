import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { MonolithConfig } from '../../config.ts';
import type { Reservation } from '../application/ports.ts';
import { asReservation } from '../hold/outbound/postgres-reservations.ts';
import { READ_RESERVATION, type ReservationRow } from '../hold/outbound/reservation-rows.sql.ts';
import {
  HOLD_INVITED_PLACES,
  LOCK_INVITED_PLACES,
  type HeldPlace,
  type InvitedPlace,
  type InvitedPlacesToHold,
} from './claim-places.sql.ts';

/** The places of invitations and the reservations of claims, for `ClaimPlaces`. */
export abstract class InvitedPlaces {
  /** Locks the places of an invitation, in the order of their ids. */
  abstract lock(
    tx: Transaction,
    invitation: { readonly invitationId: string; readonly seatIds: readonly string[] },
  ): Promise<readonly InvitedPlace[]>;

  /** Holds locked places with a new reservation for the ordinary time of a hold, and returns them. Empty, and nothing is written, if `until` has passed. */
  abstract hold(tx: Transaction, places: InvitedPlacesToHold): Promise<readonly HeldPlace[]>;

  /** Reads a reservation without a lock. */
  abstract reservation(tx: Transaction, id: string): Promise<Reservation | undefined>;

  /** False if all tickets of the reservation were refunded. */
  abstract hasSold(tx: Transaction, reservation: Reservation): Promise<boolean>;
}

export class PostgresInvitedPlaces implements InvitedPlaces {
  constructor(private readonly config: Pick<MonolithConfig, 'RESERVATION_HOLD_SECONDS'>) {}

  lock(
    tx: Transaction,
    invitation: { readonly invitationId: string; readonly seatIds: readonly string[] },
  ): Promise<readonly InvitedPlace[]> {
    return inside(tx).rows<InvitedPlace>(LOCK_INVITED_PLACES.with(invitation));
  }

  hold(tx: Transaction, places: InvitedPlacesToHold): Promise<readonly HeldPlace[]> {
    const holdSeconds = this.config.RESERVATION_HOLD_SECONDS;
    return inside(tx).rows<HeldPlace>(HOLD_INVITED_PLACES.with({ ...places, holdSeconds }));
  }

  async reservation(tx: Transaction, id: string): Promise<Reservation | undefined> {
    const [row] = await inside(tx).rows<ReservationRow>(READ_RESERVATION.with({ id }));
    return row && asReservation(row);
  }

  async hasSold(tx: Transaction, { id, seats }: Reservation): Promise<boolean> {
    const rows = await inside(tx).rows(
      `select from seats where id = any($1::uuid[]) and reservation_id = $2 and status = 'sold' limit 1`,
      [seats.map(({ seatId }) => seatId), id],
    );
    return rows.length > 0;
  }
}
