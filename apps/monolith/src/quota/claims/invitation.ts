import type { ClaimState } from '../../purchase/quota-places.api.ts';
import type { Quota } from '../tree/quota.ts';

/** An invitation as claims, withdrawal and expiry need it. */
export interface Invitation {
  readonly id: string;
  readonly matchId: string;
  readonly quotaId: string;
  /** The only fan who can claim it. Null: whoever has the link. */
  readonly userId: string | null;
  readonly sectorId: string;
  readonly seatIds: readonly string[];
  /** As stored: `open` also while a fan holds or has bought the places. */
  readonly status: 'open' | 'claimed' | 'expired' | 'withdrawn';
  readonly expiresAt: Date;
  /** True if `expiresAt` has passed on the clock of the database. */
  readonly isOver: boolean;
  /** The reservation of the latest claim. */
  readonly reservationId: string | null;
}

/** An invitation with what its quota says about claims. */
export interface ClaimableInvitation extends Invitation, Pick<Quota, 'opensAt' | 'claimUntil' | 'returnAt' | 'priceCents'> {
  readonly quotaName: string;
  /** False before `opensAt` on the clock of the database. */
  readonly isOpenYet: boolean;
}

/** What an invitation is for its reader, from its stored status and the state of its latest claim. */
export type ShownStatus = 'open' | 'held' | 'claimed' | 'expired' | 'withdrawn';

export function shownStatus(
  { status, isOver }: Pick<Invitation, 'status' | 'isOver'>,
  claim: ClaimState | undefined,
): ShownStatus {
  if (status !== 'open') return status;
  if (claim === 'paid') return 'claimed';
  if (claim === 'held') return 'held';
  return isOver ? 'expired' : 'open';
}
