import type { Clock } from '#application/clock';
import type { Transaction } from '#application/transaction-manager';
import type { Invitation as InvitationView } from '#contracts/invitations';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { ClaimState, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { Invitation } from './postgres-invitations.ts';

/** Renders invitations as partners see them. */
export class InvitationViews {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly clock: Clock,
  ) {}

  /** The status of a locked invitation. It is `expired` from its end on, also before a task has ended it. */
  async statusNow(tx: Transaction, invitation: Invitation): Promise<InvitationView['status']> {
    const { reservationId, expiresAt } = invitation;
    const status = statusOf(invitation, await this.places.claimStates(reservationId === null ? [] : [reservationId], tx));
    const isLiving = status === 'open' || status === 'held';
    return isLiving && expiresAt.getTime() <= this.clock.now().getTime() ? 'expired' : status;
  }

  /** All invitations are of one match. */
  async of(invitations: readonly Invitation[]): Promise<readonly InvitationView[]> {
    const [first] = invitations;
    if (!first) return [];
    const [sectors, labels, claims] = await Promise.all([
      this.catalog.sectors(first.matchId),
      this.places.labelsOf(invitations.flatMap(({ seatIds }) => seatIds)),
      this.places.claimStates(invitations.flatMap(({ reservationId }) => reservationId ?? [])),
    ]);
    const sectorName = new Map(sectors.map(({ id, name }) => [id, name]));
    const now = this.clock.now();
    return invitations.map((invitation) => ({
      id: invitation.id,
      email: invitation.email,
      name: invitation.name,
      quantity: invitation.quantity,
      seats: invitation.seatIds.map((seat_id) => {
        const { row = null, number = null } = labels.get(seat_id) ?? {};
        return { seat_id, sector: sectorName.get(invitation.sectorId) ?? '', row, number };
      }),
      status: shown(statusOf(invitation, claims), invitation.expiresAt, now),
      expires_at: invitation.expiresAt.toISOString(),
      claimed_at: invitation.claimedAt?.toISOString() ?? null,
      user_id: invitation.userId,
      note: invitation.note,
      list_key: invitation.listKey,
      created_at: invitation.createdAt.toISOString(),
    }));
  }
}

/** An open invitation is `held` while its latest claim holds its places, and `claimed` once that is paid. */
export function statusOf(
  { status, reservationId }: Pick<Invitation, 'status' | 'reservationId'>,
  claims: ReadonlyMap<string, ClaimState>,
): InvitationView['status'] {
  const claim = reservationId === null ? undefined : claims.get(reservationId);
  if (status !== 'open' || claim === undefined || claim === 'over') return status;
  return claim === 'paid' ? 'claimed' : 'held';
}

/** The task that ends invitations may be a second late. It waits for holds, so a held invitation is held also after its end. */
function shown(status: InvitationView['status'], expiresAt: Date, now: Date): InvitationView['status'] {
  return status === 'open' && expiresAt.getTime() <= now.getTime() ? 'expired' : status;
}
