import type { MailboxItem } from '#contracts/mailbox';
import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Mailbox, MailboxMessage } from './mailbox.api.ts';

/** Maximum number of messages that `find` returns. */
const MAX_ITEMS = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A message with what the HTML page needs in addition: its id, and whether it has HTML. */
export interface MailboxEntry extends MailboxItem {
  readonly id: string;
  readonly hasHtml: boolean;
}

/** Adds messages to the mailbox. `messages` is a JSON array of MailboxMessage. */
const ADD_MESSAGES = namedSql<{ readonly messages: string }>(
  'add-mailbox-messages',
  `
  insert into mailbox_messages (channel, recipient, user_id, template, subject, text, html, attachments)
  select channel, recipient, "userId", template, subject, text, html, coalesce(attachments, '{}')
  from jsonb_to_recordset(:messages::jsonb)
    as message (channel text, recipient text, "userId" uuid, template text, subject text, text text, html text, attachments text[])`,
);

/** Finds messages in the mailbox, newest first. A filter that is null matches every message. `userId` is `to`, if that is an id. */
const FIND_MESSAGES = namedSql<Readonly<Record<'to' | 'userId' | 'template', string | null>> & { readonly limit: number }>(
  'find-mailbox-messages',
  `
  select id::text, html is not null as "hasHtml", channel, recipient as "to", user_id, template, subject, text, attachments, sent_at
  from mailbox_messages
  where (:to::text is null or recipient = :to or user_id = :userId::uuid) and (:template::text is null or template = :template)
  order by mailbox_messages.id desc limit :limit`,
);

/** The mailbox in the table `mailbox_messages`. */
export class PostgresMailbox implements Mailbox {
  constructor(private readonly database: DataSource) {}

  async add(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void> {
    await inside(tx).rows(ADD_MESSAGES.with({ messages: JSON.stringify(messages) }));
  }

  /** Finds messages, newest first. `to` is an address, a user id or a device token. */
  async find({ to, template }: { to?: string; template?: string }): Promise<MailboxEntry[]> {
    const userId = to && uuid.test(to) ? to : null;
    const rows = await runUnprepared<(Omit<MailboxEntry, 'sent_at'> & { sent_at: Date })[]>(
      this.database,
      FIND_MESSAGES.with({ to: to ?? null, userId, template: template ?? null, limit: MAX_ITEMS }),
    );
    return rows.map((row) => ({ ...row, sent_at: row.sent_at.toISOString() }));
  }

  /** The HTML of a mail. Undefined if the message does not exist or has no HTML. */
  async html(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ html: string | null }[]>('select html from mailbox_messages where id = $1', [id]);
    return row?.html ?? undefined;
  }
}
