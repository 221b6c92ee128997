import type { BoxOffice, HeldSeats } from '../../purchase/testing/box-office.ts';
import type { TestAnswer } from '../../testing/test-app.ts';
import { ops, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hashOfToken } from '../messages/invitation-token.ts';
import { QuotaDeadlines } from '../moves/quota-deadlines.schedule.ts';
import { QuotaCalls } from './quota-calls.ts';

/** An invitation with its token. */
export interface Issued {
  readonly id: string;
  readonly token: string;
  readonly seatIds: readonly string[];
}

/** When an invitation ends and was issued, in hours from and before now. */
interface TimesOfInvitation {
  readonly endsInHours: number;
  readonly issuedHoursAgo: number;
}

/** The times of an invitation, and fields of its row. */
type IssuedBefore = Partial<TimesOfInvitation> & Readonly<Record<string, unknown>>;

/** A mail or push in the outbox. */
export interface QueuedMessage {
  readonly destination: string;
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** The token in the link of a mail. */
export const tokenIn = ({ body }: QueuedMessage): string => new URL(String(body.payload.claim_url)).hash.slice(1);

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
    const [mail] = await this.office.rows<QueuedMessage>(
      `select destination, event, body from outbox where destination = 'email' and body->'about'->>'invitation_id' = $1`,
      [id],
    );
    return { id, token: mail ? tokenIn(mail) : '', seatIds: stored?.seatIds ?? [] };
  }

  /** Like `issue`, but it was issued some time ago: its messages were sent and deleted. */
  async issuedBefore(quotaId: string, { endsInHours = 20, issuedHoursAgo = 72, ...fields }: IssuedBefore = {}): Promise<Issued> {
    const issued = await this.issue(quotaId, fields);
    await this.setTimes(quotaId, { endsInHours, issuedHoursAgo }, issued.id);
    await this.office.rows(`delete from outbox where body->'about'->>'invitation_id' = $1`, [issued.id]);
    return issued;
  }

  /** Sets the times of an invitation, or of all of the quota. */
  setTimes(quotaId: string, { endsInHours, issuedHoursAgo }: TimesOfInvitation, id: string | null = null): Promise<unknown> {
    return this.office.rows(
      `update invitations set expires_at = now() + make_interval(secs => $2), created_at = now() - make_interval(secs => $3)
       where quota_id = $1 and ($4::uuid is null or id = $4)`,
      [quotaId, endsInHours * 3600, issuedHoursAgo * 3600, id],
    );
  }

  /** The messages in the outbox about a match, oldest first. */
  messages(match: Pick<MatchOnSale, 'id'>): Promise<QueuedMessage[]> {
    return this.office.rows<QueuedMessage>(
      `select destination, event, body from outbox where body->'about'->>'match_id' = $1 and destination in ('email', 'push')
       order by seq`,
      [match.id],
    );
  }

  /** The id of the invitation to which a token leads. */
  async ownerOf(token: string): Promise<string | undefined> {
    const [row] = await this.office.rows<{ id: string }>(
      `select invitation_id as id from invitation_tokens where token_hash = $1`,
      [hashOfToken(token)],
    );
    return row?.id;
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
