import { openDatabase } from '#platform/postgres/database';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { UnlimitedProvider } from '#messaging/sending/provider-limiter';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { PostgresMailbox } from '../../mailbox/postgres-mailbox.ts';
import { ticketMail } from '../../testing/jobs.ts';
import { SendMail } from '../application/send-mail.ts';
import { ticketAttachments } from './ticket-attachments.ts';
import { MailboxMails } from './mailbox-mails.ts';

/** Negative control: an inbox (the table of processed messages) that treats every message as new. */
class InboxWithoutMemory extends Inbox {
  protected override remember(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

let testDatabase: TestDatabase;
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'mails-test' });
});

afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

/** Sends the same message eight times, four of them at the same time. Returns the number of mails in the mailbox. */
async function sendEightTimes(inbox: Inbox): Promise<number> {
  const mailbox = new PostgresMailbox(database);
  const sendMail = new SendMail(
    new MailboxMails(inbox, mailbox, new UnlimitedProvider()),
    { ticketsUrl: 'http://127.0.0.1:3000/tickets' },
    ticketAttachments,
  );
  const job = ticketMail();
  const command = { messageId: job.job_id, to: `${job.job_id}@example.com`, content: job };
  await Promise.all(Array.from({ length: 4 }, () => sendMail.execute(command)));
  for (let repetition = 0; repetition < 4; repetition += 1) await sendMail.execute(command);
  return (await mailbox.find({ to: command.to })).length;
}

test('negative control, without the inbox: one message sent eight times becomes eight mails', async () => {
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  expect(await sendEightTimes(new InboxWithoutMemory(transactions))).toBe(8);
});

test('with the inbox one message sent eight times becomes one mail', async () => {
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  expect(await sendEightTimes(new Inbox(transactions))).toBe(1);
});
