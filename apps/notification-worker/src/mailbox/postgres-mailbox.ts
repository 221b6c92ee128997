import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Mailbox, type MailboxEntry, type MailboxMessage } from './mailbox.api.ts';

const MAX_ITEMS = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The mailbox in the table `mailbox_messages`. */
export class PostgresMailbox extends Mailbox {
  constructor(private readonly database: DataSource) {
    super();
  }

  async add(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void> {
    await inside(tx).rows(
      `insert into mailbox_messages (channel, recipient, user_id, template, subject, text, html, attachments)
       select channel, recipient, "userId", template, subject, text, html, coalesce(attachments, '{}')
       from jsonb_to_recordset($1::jsonb)
         as message (channel text, recipient text, "userId" uuid, template text, subject text, text text, html text, attachments text[])`,
      [JSON.stringify(messages)],
    );
  }

  async find(filter: { to?: string; template?: string }): Promise<MailboxEntry[]> {
    const rows = await this.database.query<(Omit<MailboxEntry, 'sent_at'> & { sent_at: Date })[]>(
      `select id::text, html is not null as "hasHtml", channel, recipient as "to", user_id, template, subject, text, attachments, sent_at
       from mailbox_messages
       where ($1::text is null or recipient = $1 or user_id = $2::uuid) and ($3::text is null or template = $3)
       order by mailbox_messages.id desc limit ${MAX_ITEMS}`,
      [filter.to ?? null, filter.to && uuid.test(filter.to) ? filter.to : null, filter.template ?? null],
    );
    return rows.map((row) => ({ ...row, sent_at: row.sent_at.toISOString() }));
  }

  async html(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ html: string | null }[]>('select html from mailbox_messages where id = $1', [id]);
    return row?.html ?? undefined;
  }
}
