import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '#domain/catalog/match';

/** An invitation whose mail is to be sent. */
export interface InvitationToSend {
  readonly id: string;
  readonly quotaName: string;
  readonly email: string;
  readonly name: string | null;
  /** The only fan who can claim it, whose phones get a push too. Null: whoever has the link. */
  readonly userId: string | null;
  readonly locale: 'hr' | 'en';
  readonly quantity: number;
  readonly claimUntil: Date;
  /** The token of the link. It is in the message only. */
  readonly token: string;
}

/** Writes the messages of invitations to the outbox. They are sent only if the transaction commits. */
export class InvitationMessages {
  constructor(
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly config: { readonly PUBLIC_URL: string },
  ) {}

  /** Invites people to places of one match: one mail each. */
  async send(tx: Transaction, match: CatalogMatch, invitations: readonly InvitationToSend[]): Promise<void> {
    await this.outbox.append(
      tx,
      invitations.map((invitation) => this.mail(match, invitation)),
    );
  }

  private mail(match: CatalogMatch, invitation: InvitationToSend): OutboxMessage {
    const id = this.ids.next();
    const claim_until = invitation.claimUntil.toISOString();
    const body = {
      job_id: id,
      created_at: this.clock.now().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'email',
      template: 'quota_invitation',
      payload: {
        match_name: `${match.home} vs ${match.away}`,
        kickoff_at: match.kickoffAt.toISOString(),
        venue: match.venue,
        locale: invitation.locale,
        quota_name: invitation.quotaName,
        tickets_count: invitation.quantity,
        claim_until,
        claim_url: `${this.config.PUBLIC_URL}/invitation#${invitation.token}`,
      },
      recipient: invitation.email,
      ...(invitation.userId ? { user_id: invitation.userId } : {}),
      useful_until: claim_until,
      about: { match_id: match.id },
    };
    return { id, destination: 'email', event: 'quota.invitation', body };
  }
}
