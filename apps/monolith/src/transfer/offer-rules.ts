import type { TransferPolicy } from '#domain/catalog/match';
import { DomainError } from '#domain/shared/domain-error';
import type { FanWithAddress, TicketOffer } from '../ticketing/ticket-offers.api.ts';

/** Two addresses are the same whatever their case: mail systems do not tell them apart. */
export function isSameAddress(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() === other.toLowerCase();
}

/** True if the offer was made to this fan: by user id, or by an address that is the fan's. */
export function isReceiver(offer: Pick<TicketOffer, 'toUserId' | 'toEmail'>, fan: FanWithAddress): boolean {
  return offer.toUserId === fan.userId || isSameAddress(offer.toEmail, fan.email);
}

/** Another fan's offer is refused with the words of an unknown one, so that nobody learns that it exists. */
export function unknownOffer(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such offer of a ticket.');
}

/** Refuses to offer or to give a ticket of a match that was cancelled, or whose transfers an operator has locked. */
export function assertTransfersAllowed(match: { readonly transfers: TransferPolicy; readonly cancelledAt: Date | null }): void {
  if (match.cancelledAt !== null)
    throw new DomainError('INVALID_STATE', 'This match was cancelled: its tickets cannot be transferred.', {
      cancelled_at: match.cancelledAt.toISOString(),
    });
  if (match.transfers === 'locked')
    throw new DomainError('TRANSFERS_LOCKED', 'The organiser does not allow transfers of tickets for this match now.');
}

/** Refuses what only an open offer allows. */
export function assertOpen({ status }: Pick<TicketOffer, 'status'>): void {
  if (status === 'offered') return;
  const why = status === 'expired' ? 'The time of this offer is over.' : `This offer was ${status}.`;
  throw new DomainError('INVALID_STATE', why, { transfer_status: status });
}
