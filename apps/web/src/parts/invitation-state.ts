import type { InvitationLookup } from '#contracts/invitations';
import type { Reservation } from '#contracts/reservations';
import { isReservationActive } from '../purchase-store.ts';

/**
 * What the fan can do with an invitation. `early`: it cannot be claimed yet. `mine`: this browser holds its places. `busy`: the
 * fan holds other seats of the same match, which this browser would forget. `taken`: some fan has claimed it, perhaps this one.
 * `lost`: another fan has.
 */
export type InvitationState = 'open' | 'early' | 'mine' | 'busy' | 'taken' | 'lost' | 'expired' | 'withdrawn';

/** `reservation` is the one that this browser knows for the match. `isRefused`: a claim of this fan was refused as claimed by another. */
export function invitationState(
  invitation: Pick<InvitationLookup, 'status' | 'seats' | 'opens_at' | 'claim_until'>,
  reservation: Pick<Reservation, 'status' | 'expires_at' | 'seats'> | undefined,
  { now, isRefused }: { now: number; isRefused: boolean },
): InvitationState {
  if (invitation.status === 'withdrawn' || invitation.status === 'expired') return invitation.status;
  const held = reservation && isReservationActive(reservation, now) ? reservation : undefined;
  const invitedSeats = new Set(invitation.seats.map(({ seat_id }) => seat_id));
  if (held?.seats.some(({ seat_id }) => invitedSeats.has(seat_id))) return 'mine';
  if (invitation.status === 'claimed') return isRefused ? 'lost' : 'taken';
  if (Date.parse(invitation.claim_until) <= now) return 'expired';
  if (held) return 'busy';
  return invitation.opens_at !== null && Date.parse(invitation.opens_at) > now ? 'early' : 'open';
}
