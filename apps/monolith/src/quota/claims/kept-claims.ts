import { inPages, type KeptAboutFans } from '../../fans/kept-about-fans.api.ts';
import type { ClaimsOfFan } from '../../purchase/claims-of-fan.api.ts';
import type { PostgresClaims } from './postgres-claims.ts';

/** Adds the invitations that a fan claimed to the export of the fan. */
export class KeptClaims {
  constructor(kept: KeptAboutFans, claimsOfFan: ClaimsOfFan, invitations: PostgresClaims) {
    kept.add('invitations', ({ userId }) =>
      inPages(
        (before, limit) => claimsOfFan.page(userId, before, limit),
        async (claims) => {
          const found = await invitations.claimedBy(userId, [...new Set(claims.map(({ invitationId }) => invitationId))]);
          return claims.flatMap(({ id, invitationId }) => {
            const invitation = found.get(invitationId);
            return invitation ? [{ ...invitation, id: invitationId, reservation_id: id }] : [];
          });
        },
      ),
    );
  }
}
