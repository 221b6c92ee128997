import type { Invitation } from '../invitations/postgres-invitations.ts';
import type { Quota } from '../tree/quota.ts';

/** An invitation with what its quota says about claims, and the kick-off. */
export interface ClaimableInvitation
  extends
    Pick<Invitation, 'id' | 'matchId' | 'userId' | 'sectorId' | 'seatIds' | 'status' | 'expiresAt' | 'reservationId'>,
    Pick<Quota, 'opensAt' | 'claimUntil' | 'returnAt' | 'priceCents'> {
  readonly quotaName: string;
  readonly kickoffAt: Date;
  /** True if `expiresAt` has passed on the clock of the database. */
  readonly isOver: boolean;
  /** False before `opensAt` on the clock of the database. */
  readonly isOpenYet: boolean;
}

/** What the end of an invitation needs. */
export type EndingInvitation = Pick<Invitation, 'id' | 'seatIds' | 'reservationId'>;

/** A locked, open invitation. */
export type LockedInvitation = EndingInvitation & Pick<ClaimableInvitation, 'isOver'>;
