import type { ClaimedPlaces } from '../../apps/monolith/src/quota/claims/claim-invitation.ts';
import { quotaTables } from '../../apps/monolith/src/quota/testing/memory-quota-tables.ts';
import type { Answer } from './caller.ts';
import { Fan, type Held } from './fans.ts';
import { HOLD_MS } from './replicas.ts';
import { tokenOf } from './quota-use-cases.ts';

/** A simulated fan who opens links of invitations, also those of others, and then buys like every fan. */
export class InvitedFan extends Fan {
  override async run(): Promise<void> {
    const { scheduler, db, style } = this.system;
    const { random } = scheduler;
    const invitations = () => db.rows(quotaTables.invitations);
    await scheduler.until('waits for an invitation', () => invitations().length > 0, scheduler.nowMs + 2 * HOLD_MS);
    const reservations = new Set<string>();
    for (let visits = random.pick(style.visitCounts); visits >= 0 && invitations().length > 0; visits -= 1) {
      const invitation = random.pick(invitations());
      if (random.chance(style.lastMoment)) await scheduler.sleepUntil(scheduler.nextExpiry() - random.int(2));
      const claimed = await this.claim(invitation.id);
      // The same fan gets the same reservation again, and has ordered or left it already.
      if (!('value' in claimed) || reservations.has(claimed.value.id)) continue;
      reservations.add(claimed.value.id);
      await this.goOn(claimed, undefined);
    }
  }

  private claim(invitationId: string): Promise<Answer<Held>> {
    const command = { token: tokenOf(invitationId), userId: this.userId };
    const render = ({ reservation }: ClaimedPlaces): Held => ({
      id: reservation.id,
      seatIds: reservation.seats.map(({ seat_id }) => seat_id),
      expiresAtMs: Date.parse(reservation.expires_at),
    });
    return this.call(`claims ${invitationId}`, (replica) => replica.claimInvitation.execute(command), render);
  }
}
