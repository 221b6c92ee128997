import type { Transfer } from '#contracts/transfers';
import type { TicketOffer } from '../ticketing/ticket-offers.api.ts';

/**
 * An offer in the format of the API. The giver sees the receiver as the giver has named it: an offer to an address does not tell
 * which account has accepted it, nor which ticket that account has now.
 */
export function offerView(offer: TicketOffer, viewerId: string): Transfer {
  const { id, ticketId, matchId, seatId, sector, row, number, status, holderName, toUserId, toEmail, newTicketId } = offer;
  const isGiver = offer.fromUserId === viewerId;
  return {
    id,
    role: isGiver ? 'giver' : 'receiver',
    ticket_id: ticketId,
    match_id: matchId,
    seat: { seat_id: seatId, sector, row, number },
    status,
    holder_name: holderName,
    to_user_id: toEmail === null ? toUserId : null,
    to_email: toEmail,
    new_ticket_id: isGiver || toUserId !== viewerId ? null : newTicketId,
    created_at: offer.createdAt.toISOString(),
    expires_at: offer.expiresAt.toISOString(),
    ended_at: status === 'expired' ? offer.expiresAt.toISOString() : (offer.endedAt?.toISOString() ?? null),
  };
}
