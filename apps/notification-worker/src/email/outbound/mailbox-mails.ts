import type { Inbox } from '#platform/postgres/delivery-ledger';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Mails, type Delivered, type OutgoingMail } from '../application/ports.ts';

/** The name under which the inbox remembers mails, whatever their provider. */
const CONSUMER = 'email';

/** EMAIL_PROVIDER=mailbox: the mail becomes a row, in the same commit that remembers its message. */
export class MailboxMails extends Mails {
  constructor(
    private readonly inbox: Inbox,
    private readonly mailbox: Mailbox,
  ) {
    super();
  }

  async send({ messageId, to, userId, template, subject, text, html, attachments }: OutgoingMail): Promise<Delivered> {
    const names = attachments?.().map(({ name }) => name);
    const message = { channel: 'email', recipient: to, userId, template, subject, text, html, attachments: names } as const;
    const outcome = await this.inbox.once(CONSUMER, messageId, (tx) => this.mailbox.keep(tx, [message]));
    return outcome === 'done' ? 'sent' : 'duplicate';
  }
}
