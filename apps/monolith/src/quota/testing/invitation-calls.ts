import { randomBytes } from 'node:crypto';
import type { BoxOffice, HeldSeats } from '../../purchase/testing/box-office.ts';
import { QuotaOffice } from '../../purchase/testing/quota-office.ts';
import type { TestAnswer } from '../../testing/test-app.ts';
import { ops, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { tokenHash } from '../claims/postgres-claims.ts';
import { QuotaDeadlines } from '../moves/quota-deadlines.schedule.ts';

/** An invitation with its token. */
export interface Issued {
  readonly id: string;
  readonly token: string;
  readonly seatIds: readonly string[];
}

/** Test helper: issues invitations to free places of a quota, and makes the calls of invited fans and of partners. */
export class InvitationCalls {
  readonly quotas: QuotaOffice;

  constructor(readonly office: BoxOffice) {
    this.quotas = new QuotaOffice(office);
  }

  /** Invites to free places of the quota. The invitation ends at `expiresAt`, or in a day. */
  async issue(
    match: MatchOnSale,
    quotaId: string,
    options: { quantity?: number; userId?: string; expiresAt?: string } = {},
  ): Promise<Issued> {
    const free = await this.quotas.places.free({ matchId: match.id, quotaId });
    const seatIds = free.slice(0, options.quantity ?? 2).map(({ seatId }) => seatId);
    const { id } = await this.quotas.invite(match, quotaId, seatIds);
    const token = `inv_${randomBytes(32).toString('base64url')}`;
    await this.office.rows(`insert into invitation_tokens (token_hash, invitation_id) values ($1, $2)`, [tokenHash(token), id]);
    await this.office.rows(
      `update invitations set user_id = $2, expires_at = coalesce($3::timestamptz, expires_at) where id = $1`,
      [id, options.userId ?? null, options.expiresAt ?? null],
    );
    return { id, token, seatIds };
  }

  lookUp({ token }: Pick<Issued, 'token'>): Promise<TestAnswer> {
    return this.office.monolith.call('POST', '/api/v1/invitations/lookup', { body: { token } });
  }

  claim({ token }: Pick<Issued, 'token'>, as: string): Promise<TestAnswer> {
    return this.office.monolith.call('POST', '/api/v1/invitations/claim', { as, body: { token } });
  }

  /** Like `claim`, but throws if the places are not held. The result can be checked out with the box office. */
  async claimed(invitation: Issued, as: string): Promise<HeldSeats> {
    const { status, text, json } = await this.claim(invitation, as);
    if (status !== 201) throw new Error(`not claimed: ${text}`);
    return { ...json, userId: as, seatIds: invitation.seatIds };
  }

  withdraw({ id }: Pick<Issued, 'id'>, caller: typeof ops = ops): Promise<TestAnswer> {
    return this.office.monolith.call('DELETE', `/api/v1/invitations/${id}`, caller);
  }

  /** Sets the end of the invitation to a second ago. */
  async setOver({ id }: Pick<Issued, 'id'>): Promise<void> {
    await this.office.rows(`update invitations set expires_at = now() - interval '1 second' where id = $1`, [id]);
  }

  /** The stored status of the invitation. */
  async stored({ id }: Pick<Issued, 'id'>): Promise<string | undefined> {
    return (await this.office.rows<{ status: string }>(`select status from invitations where id = $1`, [id]))[0]?.status;
  }

  runTask(): Promise<number> {
    return this.office.monolith.get(QuotaDeadlines).runOnce();
  }
}
