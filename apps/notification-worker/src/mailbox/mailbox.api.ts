import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';

/** What would have left the house, had a provider been set. */
export interface MailboxMessage {
  readonly channel: 'email' | 'push';
  /** Address of a mail, token of a push. */
  readonly recipient: string;
  readonly userId?: string;
  readonly template: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailboxItem {
  readonly channel: string;
  readonly to: string;
  readonly user_id: string | null;
  readonly template: string;
  readonly subject: string;
  readonly text: string;
  readonly sent_at: string;
}

const NEWEST = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The provider of development and tests: a table instead of the world. */
export class Mailbox {
  constructor(private readonly database: DataSource) {}

  /** In the transaction that remembers the message, so that a message is kept exactly once. */
  async keep(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void> {
    await inside(tx).rows(
      `insert into mailbox_messages (channel, recipient, user_id, template, subject, text)
       select channel, recipient, "userId", template, subject, text
       from jsonb_to_recordset($1::jsonb)
         as message (channel text, recipient text, "userId" uuid, template text, subject text, text text)`,
      [JSON.stringify(messages)],
    );
  }

  /** Newest first; `to` is an address, a user id or a token. */
  async find(filter: { to?: string; template?: string }): Promise<MailboxItem[]> {
    const rows = await this.database.query<(Omit<MailboxItem, 'sent_at'> & { sent_at: Date })[]>(
      `select channel, recipient as "to", user_id, template, subject, text, sent_at
       from mailbox_messages
       where ($1::text is null or recipient = $1 or user_id = $2::uuid) and ($3::text is null or template = $3)
       order by id desc limit ${NEWEST}`,
      [filter.to ?? null, filter.to && uuid.test(filter.to) ? filter.to : null, filter.template ?? null],
    );
    return rows.map((row) => ({ ...row, sent_at: row.sent_at.toISOString() }));
  }
}
