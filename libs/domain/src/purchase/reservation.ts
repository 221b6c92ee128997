import { DomainError } from '../shared/domain-error.ts';

/*
 * The status of a reservation.
 *
 *   held ──checkout──▶ ordered ──paid──▶ completed
 *    │ │                 │ │
 *    │ └──released◀──────┘ │      by the fan, or when another order of its turn completes
 *    └────▶ expired ◀──────┘      by time; its seats are free from that moment for every reader
 */
export type ReservationStatus = 'held' | 'ordered' | 'completed' | 'expired' | 'released';

/**
 * The status of a reservation at the time `now`: `expired` from its expiry on, also before the expiry sweeper updates the stored
 * status.
 */
export function reservationStatusAt(stored: ReservationStatus, expiresAt: Date, now: Date): ReservationStatus {
  return (stored === 'held' || stored === 'ordered') && expiresAt.getTime() <= now.getTime() ? 'expired' : stored;
}

/** Throws unless the reservation may be checked out. `ordered` is allowed: a repeated checkout returns the same order. */
export function assertCheckoutAllowed(status: ReservationStatus): void {
  if (status === 'held' || status === 'ordered') return;
  if (status === 'expired')
    throw new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
  throw new DomainError('INVALID_STATE', `A reservation that is ${status} cannot be checked out.`, {
    reservation_status: status,
  });
}

/** What the fan's release does to a reservation of this status. Throws if the reservation is paid. */
export function releaseAction(status: ReservationStatus): 'release' | 'nothing left to do' {
  if (status === 'completed')
    throw new DomainError('INVALID_STATE', 'These seats are paid; ask for a refund instead.', { reservation_status: status });
  return status === 'held' || status === 'ordered' ? 'release' : 'nothing left to do';
}
