import { isLedgerOutage, type Inbox } from '#messaging/inbox/delivery-ledger';
import type { ProviderLimiter } from '#messaging/sending/provider-limiter';
import { Batcher } from '#platform/batching/batcher';
import type { Mailbox, MailboxMessage } from '../../mailbox/mailbox.api.ts';
import { Mails, type Attachment, type SendOutcome, type OutgoingMail } from '../application/ports.ts';

/** The consumer name of mails in the table `inbox`, the same for all providers. */
const CONSUMER = 'email';

interface MailToStore {
  readonly messageId: string;
  readonly message: MailboxMessage;
}

/**
 * EMAIL_PROVIDER=mailbox: stores mails as rows, in the transaction that marks their messages as sent. Two things keep it from slowing a
 * sale. It has the rate limit of a provider. And mails that arrive while others are stored share a transaction: the disk confirms one
 * commit after the other, and a purchase waits for several.
 */
export class MailboxMails extends Mails {
  private readonly writes = new Batcher<MailToStore, SendOutcome>((batch) => this.store(batch), {
    keyOf: ({ messageId }) => messageId,
    startWith: queueMicrotask,
  });

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
    const outcome = await this.writes.add({ messageId, message }).catch(async (error: unknown) => {
      await permit.leave({});
      throw error;
    });
    await permit.leave(outcome === 'sent' ? { answered: 1 } : {});
    return outcome;
  }

  private async store(mails: readonly MailToStore[]): Promise<readonly (SendOutcome | Promise<SendOutcome>)[]> {
    try {
      return await this.storeTogether(mails);
    } catch (error) {
      if (mails.length === 1 || isLedgerOutage(error)) throw error;
      // One mail that PostgreSQL refuses must not fail the others.
      return mails.map((mail) => this.storeTogether([mail]).then(([outcome]) => outcome ?? 'duplicate'));
    }
  }

  private async storeTogether(mails: readonly MailToStore[]): Promise<SendOutcome[]> {
    const ids = mails.map(({ messageId }) => messageId);
    const stored = await this.inbox.onceEach(CONSUMER, ids, (tx, fresh) => {
      const messages = mails.filter(({ messageId }) => fresh.has(messageId)).map(({ message }) => message);
      return this.mailbox.add(tx, messages);
    });
    return ids.map((id) => (stored.has(id) ? 'sent' : 'duplicate'));
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
