import type { Invitation, InvitationLookup } from '#contracts/invitations';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { statusOf } from '../invitations/invitation-views.ts';
import { priceOf } from '../tree/quota.ts';
import { unknownInvitation } from './claim-invitation.ts';
import type { ClaimableInvitation } from './claimable-invitation.ts';
import type { PostgresClaims } from './postgres-claims.ts';

/** Shows what a link leads to: the match, the places and their price. */
export class LookUpInvitation {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly claims: PostgresClaims,
  ) {}

  async execute(token: string): Promise<InvitationLookup> {
    const invitation = await this.claims.byToken(token);
    if (!invitation) throw unknownInvitation();
    const { matchId, sectorId, seatIds, reservationId } = invitation;
    const [match, sector, labels, states] = await Promise.all([
      this.catalog.match(matchId),
      this.catalog.sector(sectorId),
      this.places.labelsOf(seatIds),
      this.places.claimStates(reservationId ? [reservationId] : []),
    ]);
    if (!match || !sector) throw new Error(`invitation ${invitation.id} is for a match or a sector that does not exist`);
    const status = statusOf(invitation, states);
    return {
      match: {
        id: match.id,
        home: match.home,
        away: match.away,
        venue: match.venue,
        kickoff_at: match.kickoffAt.toISOString(),
      },
      quota_name: invitation.quotaName,
      seats: seatIds.map((seat_id) => {
        const { row = null, number = null } = labels.get(seat_id) ?? {};
        return { seat_id, sector: sector.name, row, number };
      }),
      quantity: seatIds.length,
      total_cents: priceOf(invitation, sector) * seatIds.length,
      currency: match.currency,
      opens_at: invitation.opensAt?.toISOString() ?? null,
      claim_until: invitation.expiresAt.toISOString(),
      status: shown(status, invitation),
    };
  }
}

/** For the invited a held place is claimed. The task that ends invitations may be a second late. */
function shown(status: Invitation['status'], { isOver }: ClaimableInvitation): InvitationLookup['status'] {
  if (status === 'open' && isOver) return 'expired';
  return status === 'held' ? 'claimed' : status;
}
