import type { Inbox } from '#platform/postgres/delivery-ledger';
import type { Mailbox } from '../../mailbox/mailbox.api.ts';
import { Pushes, type Delivered, type OutgoingPush } from '../application/ports.ts';

/** The name under which the inbox remembers pushes; both push queues share it. */
const CONSUMER = 'push';

/** PUSH_PROVIDER=mailbox: the push becomes a row for each device, in the same commit that remembers its message. */
export class MailboxPushes extends Pushes {
  constructor(
    private readonly inbox: Inbox,
    private readonly mailbox: Mailbox,
  ) {
    super();
  }

  async send({ messageId, userId, tokens, template, title, body }: OutgoingPush): Promise<Delivered> {
    const messages = tokens.map(
      (token) => ({ channel: 'push', recipient: token, userId, template, subject: title, text: body }) as const,
    );
    const outcome = await this.inbox.once(CONSUMER, messageId, (tx) => this.mailbox.keep(tx, messages));
    return outcome === 'done' ? { outcome: 'sent', devices: tokens.length } : { outcome: 'duplicate' };
  }
}
