import type { Inbox } from '#messaging/inbox/delivery-ledger';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Mails, type SendOutcome, type OutgoingMail } from '../application/ports.ts';

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
    const names = attachments?.().map(({ name }) => name);
    const message = { channel: 'email', recipient: to, userId, template, subject, text, html, attachments: names } as const;
    const outcome = await this.inbox.once(CONSUMER, messageId, (tx) => this.mailbox.add(tx, [message]));
    return outcome === 'done' ? 'sent' : 'duplicate';
  }
}
