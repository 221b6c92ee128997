import type { Inbox } from '#messaging/inbox/delivery-ledger';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Mails, type Attachment, type SendOutcome, type OutgoingMail } from '../application/ports.ts';

/** The consumer name of mails in the table `inbox`, the same for all providers. */
const CONSUMER = 'email';

/** EMAIL_PROVIDER=mailbox: stores the mail as a row, in the transaction that marks its message as sent. */
export class MailboxMails extends Mails {
  constructor(
    private readonly inbox: Inbox,
    private readonly mailbox: Mailbox,
  ) {
    super();
  }

  async send({ messageId, to, userId, template, subject, text, html, attachments }: OutgoingMail): Promise<SendOutcome> {
    const files = attachments?.() ?? [];
    const mail = { recipient: to, userId, template, subject, text, html: withImages(html, files) };
    const message = { channel: 'email', ...mail, attachments: files.map(({ name }) => name) } as const;
    const outcome = await this.inbox.once(CONSUMER, messageId, (tx) => this.mailbox.add(tx, [message]));
    return outcome === 'done' ? 'sent' : 'duplicate';
  }
}

/** Puts inline images into the HTML, because the mailbox stores no files. */
function withImages(html: string, files: readonly Attachment[]): string {
  return files.reduce((whole, { name, contentType, content, inline }) => {
    if (!inline) return whole;
    return whole.replaceAll(`"cid:${name}"`, `"data:${contentType};base64,${content.toString('base64')}"`);
  }, html);
}
