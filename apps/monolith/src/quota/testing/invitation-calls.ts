import type { BoxOffice, HeldSeats } from '../../purchase/testing/box-office.ts';
import type { TestAnswer } from '../../testing/test-app.ts';
import { ops } from '../../testing/whole-monolith.ts';
import { QuotaDeadlines } from '../moves/quota-deadlines.schedule.ts';
import { QuotaCalls } from './quota-calls.ts';

/** An invitation with its token. */
export interface Issued {
  readonly id: string;
  readonly token: string;
  readonly seatIds: readonly string[];
}

/** Test helper: issues invitations, and makes the calls of invited fans and of partners. */
export class InvitationCalls {
  private readonly calls: QuotaCalls;

  constructor(readonly office: BoxOffice) {
    this.calls = new QuotaCalls(office);
  }

  /** Invites one person to two free places of the quota, or as `fields` of the row and `settings` of the list say. */
  async issue(quotaId: string, fields: object = {}, settings: Record<string, unknown> = {}): Promise<Issued> {
    const row = { email: 'guest@example.hr', quantity: 2, ...fields };
    const { status, text, json } = await this.calls.invite(quotaId, [row], settings);
    const id: string | undefined = json.items?.[0]?.id;
    if (!id) throw new Error(`not invited: ${status} ${text}`);
    const [stored] = await this.office.rows<{ seatIds: string[] }>(
      `select seat_ids as "seatIds" from invitations where id = $1`,
      [id],
    );
    return { id, token: await this.latestToken(), seatIds: stored?.seatIds ?? [] };
  }

  /** The token in the latest mail. */
  private async latestToken(): Promise<string> {
    const [mail] = await this.office.rows<{ url: string }>(
      `select body->'payload'->>'claim_url' as url from outbox where event = 'quota.invitation' and destination = 'email'
       order by seq desc limit 1`,
    );
    return mail?.url.split('#')[1] ?? '';
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
