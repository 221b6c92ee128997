import type { Inbox } from '#messaging/inbox/delivery-ledger';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Pushes, type SendOutcome, type OutgoingPush } from '../application/ports.ts';

/** The consumer name of pushes in the table `inbox`, the same for both push queues. */
const CONSUMER = 'push';

/** PUSH_PROVIDER=mailbox: stores the push as one row for each device, in the transaction that marks its message as sent. */
export class MailboxPushes extends Pushes {
  constructor(
    private readonly inbox: Inbox,
    private readonly mailbox: Mailbox,
  ) {
    super();
  }

  async send({ messageId, userId, tokens, template, title, body }: OutgoingPush): Promise<SendOutcome> {
    const messages = tokens.map(
      (token) => ({ channel: 'push', recipient: token, userId, template, subject: title, text: body }) as const,
    );
    const outcome = await this.inbox.once(CONSUMER, messageId, (tx) => this.mailbox.add(tx, messages));
    return outcome === 'done' ? { outcome: 'sent', devices: tokens.length } : { outcome: 'duplicate' };
  }
}
