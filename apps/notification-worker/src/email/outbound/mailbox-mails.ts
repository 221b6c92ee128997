import type { Inbox } from '#messaging/inbox/delivery-ledger';
import type { ProviderLimiter } from '#messaging/sending/provider-limiter';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Mails, type Attachment, type SendOutcome, type OutgoingMail } from '../application/ports.ts';

/** The consumer name of mails in the table `inbox`, the same for all providers. */
const CONSUMER = 'email';

/**
 * EMAIL_PROVIDER=mailbox: stores the mail as a row, in the transaction that marks its message as sent. It has the rate limit of a
 * provider: without it a sale would get half of its speed, because the worker would store mails as fast as it can.
 */
export class MailboxMails extends Mails {
  constructor(
    private readonly inbox: Inbox,
    private readonly mailbox: Mailbox,
    private readonly limiter: ProviderLimiter,
  ) {
    super();
  }

  async send({ messageId, to, userId, template, subject, text, html, attachments }: OutgoingMail): Promise<SendOutcome> {
    const files = attachments?.() ?? [];
    const mail = { recipient: to, userId, template, subject, text, html: withImages(html, files) };
    const message = { channel: 'email', ...mail, attachments: files.map(({ name }) => name) } as const;
    const permit = await this.limiter.enter(1, 'urgent');
    const outcome = await this.inbox
      .once(CONSUMER, messageId, (tx) => this.mailbox.add(tx, [message]))
      .catch(async (error: unknown) => {
        await permit.leave({});
        throw error;
      });
    await permit.leave(outcome === 'done' ? { answered: 1 } : {});
    return outcome === 'done' ? 'sent' : 'duplicate';
  }
}

/** Puts inline images into the HTML, because the mailbox stores no files. The other files are not read, so they are not drawn. */
function withImages(html: string, files: readonly Attachment[]): string {
  return files
    .filter(({ inline }) => inline)
    .reduce(
      (whole, { name, contentType, content }) =>
        whole.replaceAll(`"cid:${name}"`, `"data:${contentType};base64,${content.toString('base64')}"`),
      html,
    );
}
