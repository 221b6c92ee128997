import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { Reservation } from '#contracts/reservations';
import { assertInvitationsAllowed } from '#domain/catalog/sale';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { Claim, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { endOfInvitations, priceOf } from '../tree/quota.ts';
import type { ClaimableInvitation } from './claimable-invitation.ts';
import type { Claims } from './postgres-claims.ts';

/** A fan who opens the link of an invitation wants its places. */
export interface ClaimInvitationCommand {
  readonly token: string;
  readonly userId: string;
}

/** The hold of the places. `isNew`: this claim has made it. */
export interface ClaimedPlaces {
  readonly reservation: Reservation;
  readonly isNew: boolean;
}

/** Holds the places of an invitation for the fan who has its token. The rest is the ordinary checkout. */
export class ClaimInvitation {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Pick<CatalogApi, 'match' | 'sector'>,
    private readonly places: QuotaPlacesApi,
    private readonly claims: Claims,
  ) {}

  execute({ token, userId }: ClaimInvitationCommand): Promise<ClaimedPlaces> {
    return this.transactions.run(async (tx) => {
      const invitation = await this.claims.lockByToken(tx, token);
      if (!invitation || (invitation.userId !== null && invitation.userId !== userId)) throw unknownInvitation();
      const { id, status } = invitation;
      if (status === 'expired' || status === 'withdrawn') throw await this.over(tx, invitation, status);
      if (!invitation.isOpenYet) throw await this.notOpenYet(tx, invitation);
      const result = await this.places.hold(tx, await this.claimOf(tx, invitation, userId));
      if (result.kind === 'over') throw await this.over(tx, invitation, 'expired');
      if (result.kind === 'taken') throw new DomainError('INVITATION_CLAIMED', 'Another fan has claimed this invitation.');
      const { reservation, isNew } = result;
      if (isNew) await this.claims.setClaimed(tx, { id, reservationId: reservation.id, userId });
      return { reservation, isNew };
    });
  }

  private async claimOf(tx: Transaction, invitation: ClaimableInvitation, userId: string): Promise<Claim> {
    const { id, matchId, sectorId, seatIds } = invitation;
    const sector = await this.catalog.sector(sectorId, tx);
    if (!sector) throw new Error(`invitation ${id} is for the unknown sector ${sectorId}`);
    const until = await this.endOfHold(tx, invitation);
    return { invitationId: id, matchId, sectorId, seatIds, userId, priceCents: priceOf(invitation, sector), until };
  }

  /**
   * When the hold ends at the latest: with the claims of the quota. That may be after the end of the invitation, so a fan who claims
   * in its last minute can check out. An invitation that is over gives no new hold.
   */
  private async endOfHold(tx: Transaction, invitation: ClaimableInvitation): Promise<Date> {
    if (invitation.isOver) return invitation.expiresAt;
    const match = await this.catalog.match(invitation.matchId, tx);
    if (!match) throw new Error(`invitation ${invitation.id} is for an unknown match`);
    return endOfInvitations(invitation, match);
  }

  /** In a closed or cancelled sale SALE_NOT_OPEN, whatever has become of the invitation. */
  private async over(tx: Transaction, { matchId }: ClaimableInvitation, status: 'expired' | 'withdrawn'): Promise<DomainError> {
    assertInvitationsAllowed((await this.catalog.match(matchId, tx))?.saleStatus);
    const detail = status === 'withdrawn' ? 'This invitation was withdrawn.' : 'The time of this invitation is over.';
    return new DomainError('INVITATION_EXPIRED', detail, { invitation_status: status });
  }

  private async notOpenYet(tx: Transaction, { matchId, opensAt }: ClaimableInvitation): Promise<DomainError> {
    const saleStatus = (await this.catalog.match(matchId, tx))?.saleStatus;
    assertInvitationsAllowed(saleStatus);
    return new DomainError('SALE_NOT_OPEN', 'This invitation cannot be claimed yet.', {
      sale_status: saleStatus,
      opens_at: opensAt?.toISOString(),
    });
  }
}

export function unknownInvitation(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such invitation.');
}
