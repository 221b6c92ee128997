import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Mailbox, type MailboxEntry, type MailboxMessage } from './mailbox.api.ts';
import { FIND_MESSAGES, ADD_MESSAGES } from './mailbox.sql.ts';

/** Maximum number of messages that `find` returns. */
const MAX_ITEMS = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The mailbox in the table `mailbox_messages`. */
export class PostgresMailbox extends Mailbox {
  constructor(private readonly database: DataSource) {
    super();
  }

  async add(tx: Transaction, messages: readonly MailboxMessage[]): Promise<void> {
    await inside(tx).rows(ADD_MESSAGES.with({ messages: JSON.stringify(messages) }));
  }

  async find({ to, template }: { to?: string; template?: string }): Promise<MailboxEntry[]> {
    const userId = to && uuid.test(to) ? to : null;
    const rows = await runUnprepared<(Omit<MailboxEntry, 'sent_at'> & { sent_at: Date })[]>(
      this.database,
      FIND_MESSAGES.with({ to: to ?? null, userId, template: template ?? null, limit: MAX_ITEMS }),
    );
    return rows.map((row) => ({ ...row, sent_at: row.sent_at.toISOString() }));
  }

  async html(id: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ html: string | null }[]>('select html from mailbox_messages where id = $1', [id]);
    return row?.html ?? undefined;
  }
}
