import { DomainError } from '../shared/domain-error.ts';

/*
 * A hold on seats.
 *
 *   held ──checkout──▶ ordered ──paid──▶ completed
 *    │ │                 │ │
 *    │ └──released◀──────┘ │      by the fan, or with its window's completed order
 *    └────▶ expired ◀──────┘      by time; its seats are free from that moment, whoever looks
 */
export type ReservationStatus = 'held' | 'ordered' | 'completed' | 'expired' | 'released';

/** Alive in the table, but its time has come: the scheduler has just not been there yet. */
export function reservationStatusAt(stored: ReservationStatus, expiresAt: Date, now: Date): ReservationStatus {
  return (stored === 'held' || stored === 'ordered') && expiresAt.getTime() <= now.getTime() ? 'expired' : stored;
}

/** May it be checked out now? `ordered` may again: it is the same order. */
export function assertCheckoutAllowed(status: ReservationStatus): void {
  if (status === 'held' || status === 'ordered') return;
  if (status === 'expired')
    throw new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
  throw new DomainError('INVALID_STATE', `A reservation that is ${status} cannot be checked out.`, {
    reservation_status: status,
  });
}

/** What giving a reservation back means for it. */
export function releaseOf(status: ReservationStatus): 'release' | 'nothing left to do' {
  if (status === 'completed')
    throw new DomainError('INVALID_STATE', 'These seats are paid; ask for a refund instead.', { reservation_status: status });
  return status === 'held' || status === 'ordered' ? 'release' : 'nothing left to do';
}
