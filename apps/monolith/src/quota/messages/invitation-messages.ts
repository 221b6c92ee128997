import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { PushJob } from '#contracts/queue-jobs';
import type { CatalogMatch } from '#domain/catalog/match';
import { writePush } from '#domain/notification/push-templates';
import { formatMoney } from '#domain/shared/money';
import { publicUrls } from '#platform/config/settings';
import type { MonolithConfig } from '../../config.ts';
import type { FanContact, FansApi } from '../../fans/fans.api.ts';

/** An invitation whose mail is to be sent. */
export interface InvitationToSend {
  readonly id: string;
  readonly quotaName: string;
  readonly email: string;
  readonly name: string | null;
  /** The only fan who can claim it, whose phones get a push too. Null: anybody with the link. */
  readonly userId: string | null;
  readonly locale: 'hr' | 'en';
  readonly quantity: number;
  /** The price of all its places. 0: free of charge. */
  readonly totalCents: number;
  readonly claimUntil: Date;
  /** The token of the link. It is in the mail only. */
  readonly token: string;
}

/** The event of all messages to invited people. */
const EVENT = 'quota.invitation';

/**
 * Writes the messages of invitations to the outbox: a mail each, and a push to the phones of the fan whom the invitation names. They
 * are sent only if the transaction commits.
 *
 * A fan is never found by the address of the invitation, because nobody has checked that the address in a profile belongs to its fan.
 */
export class InvitationMessages {
  private readonly pageUrl: string;

  constructor(
    private readonly fans: FansApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
    config: MonolithConfig,
  ) {
    this.pageUrl = `${publicUrls(config).publicUrl}/invitation`;
  }

  /** Invites people to places of one match. */
  send(tx: Transaction, match: CatalogMatch, invitations: readonly InvitationToSend[]): Promise<void> {
    return this.write(tx, match, invitations, { isReminder: false });
  }

  /** Reminds people of their invitations to places of one match. */
  remind(tx: Transaction, match: CatalogMatch, invitations: readonly InvitationToSend[]): Promise<void> {
    return this.write(tx, match, invitations, { isReminder: true });
  }

  private async write(
    tx: Transaction,
    match: CatalogMatch,
    invitations: readonly InvitationToSend[],
    { isReminder }: { readonly isReminder: boolean },
  ): Promise<void> {
    const userIds = invitations.flatMap(({ userId }) => userId ?? []);
    const contacts = userIds.length > 0 ? await this.fans.contacts(tx, userIds) : new Map<string, FanContact>();
    const messages = invitations.flatMap((invitation) => {
      const contact = invitation.userId ? contacts.get(invitation.userId) : undefined;
      const mail = this.mail(match, invitation, isReminder);
      return contact && contact.fcmTokens.length > 0 ? [mail, this.push(match, invitation, contact, isReminder)] : [mail];
    });
    await this.outbox.append(tx, messages);
  }

  private mail(match: CatalogMatch, invitation: InvitationToSend, isReminder: boolean): OutboxMessage {
    const { id, ...envelope } = this.envelope(match, invitation);
    const amount = { amountCents: invitation.totalCents, currency: match.currency };
    const body = {
      ...envelope,
      type: 'email',
      template: 'quota_invitation',
      payload: {
        match_name: nameOf(match),
        kickoff_at: match.kickoffAt.toISOString(),
        venue: match.venue,
        locale: invitation.locale,
        quota_name: invitation.quotaName,
        tickets_count: invitation.quantity,
        claim_until: envelope.useful_until,
        // The token is in the fragment, which browsers send to no server.
        claim_url: `${this.pageUrl}#${invitation.token}`,
        total_amount: formatMoney(amount),
        ...(invitation.name === null ? {} : { invited_name: invitation.name }),
        ...(isReminder ? { reminder: true } : {}),
      },
      recipient: invitation.email,
      ...(invitation.userId ? { user_id: invitation.userId } : {}),
    };
    return { id, destination: 'email', event: EVENT, body };
  }

  /** The push has no token, because it passes through the servers of Google and Apple. */
  private push(match: CatalogMatch, invitation: InvitationToSend, contact: FanContact, isReminder: boolean): OutboxMessage {
    const { id, ...envelope } = this.envelope(match, invitation);
    const content = {
      template: 'quota_invitation',
      match_name: nameOf(match),
      tickets_count: invitation.quantity,
      reminder: isReminder,
    } as const;
    const body: PushJob = {
      ...envelope,
      type: 'push',
      template: 'quota_invitation',
      user_id: contact.userId,
      fcm_tokens: [...contact.fcmTokens],
      payload: {
        ...writePush(content, contact.locale),
        data: { match_id: match.id, invitation_id: invitation.id, action: 'open_invitation' },
      },
      priority: 'normal',
    };
    return { id, destination: 'push', event: EVENT, body };
  }

  private envelope(match: CatalogMatch, invitation: InvitationToSend) {
    const id = this.ids.next();
    return {
      id,
      job_id: id,
      created_at: this.clock.now().toISOString(),
      attempts: 0 as const,
      max_attempts: 3 as const,
      useful_until: invitation.claimUntil.toISOString(),
      about: { match_id: match.id, invitation_id: invitation.id },
    };
  }
}

/** The name of a match in mails and pushes. */
export const nameOf = ({ home, away }: CatalogMatch): string => `${home} vs ${away}`;
