import type { Transaction } from '#application/transaction-manager';
import { openDatabase } from '#platform/postgres/database';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { newId } from '#platform/ids';
import { UnlimitedProvider, type CallPermit } from '#messaging/sending/provider-limiter';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { PostgresMailbox } from '../../mailbox/postgres-mailbox.ts';
import { ticketMail } from '../../testing/jobs.ts';
import type { OutgoingMail } from '../application/ports.ts';
import { SendMail } from '../application/send-mail.ts';
import { ticketAttachments } from './ticket-attachments.ts';
import { MailboxMails } from './mailbox-mails.ts';

/** Negative control: an inbox (the table of processed messages) that treats every message as new. */
class InboxWithoutMemory extends Inbox {
  protected override remember(_tx: Transaction, _consumer: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(messageIds));
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
  await testDatabase.close();
});

/** Sends the same message eight times, four of them at the same time. Returns the number of mails in the mailbox. */
async function sendEightTimes(inbox: Inbox): Promise<number> {
  const mailbox = new PostgresMailbox(database);
  const sendMail = new SendMail(
    new MailboxMails(inbox, mailbox, new UnlimitedProvider()),
    { ticketsUrl: 'http://127.0.0.1:3000/tickets', transfersUrl: 'http://127.0.0.1:3000/transfers' },
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

/** Counts the transactions that were started. */
class CountedTransactions extends PostgresTransactionManager {
  count = 0;
  override run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.count += 1;
    return super.run(work);
  }
}

const mailTo = (to: string, subject = 'Vijest'): OutgoingMail => {
  return { messageId: newId(), template: 'refund', to, subject, text: 'Tekst', html: '<p>Tekst</p>' };
};

test('a hundred mails at the same time share a few transactions, and each is stored once', async () => {
  const transactions = new CountedTransactions(database, { deadlineMs: 10_000 });
  const mailbox = new PostgresMailbox(database);
  const mails = new MailboxMails(new Inbox(transactions), mailbox, new UnlimitedProvider());
  const to = `${newId()}@example.com`;
  const outgoing = Array.from({ length: 100 }, (_, n) => mailTo(to, `Vijest ${n}`));
  const outcomes = await Promise.all(outgoing.map((mail) => mails.send(mail)));
  expect(new Set(outcomes)).toEqual(new Set(['sent']));
  expect(new Set((await mailbox.find({ to })).map(({ subject }) => subject)).size).toBe(100);
  expect(transactions.count).toBeLessThanOrEqual(3);
});

test('a mail that PostgreSQL refuses fails alone: the other mails of its batch are stored', async () => {
  const mailbox = new PostgresMailbox(database);
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  const mails = new MailboxMails(new Inbox(transactions), mailbox, new UnlimitedProvider());
  const to = `${newId()}@example.com`;
  // PostgreSQL stores no NUL in a text.
  const outgoing = [mailTo(to, 'first'), mailTo(to, 'with \0'), mailTo(to, 'last')];
  const sends = await Promise.allSettled(outgoing.map((mail) => mails.send(mail)));
  expect(sends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  // They are sent again one by one, at the same time.
  expect((await mailbox.find({ to })).map(({ subject }) => subject).sort()).toEqual(['first', 'last']);
});

test('the mailbox reads inline images only: other files are not drawn, and their names are stored', async () => {
  const mailbox = new PostgresMailbox(database);
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  const mails = new MailboxMails(new Inbox(transactions), mailbox, new UnlimitedProvider());
  const mail = { ...mailTo(`${newId()}@example.com`), html: '<img src="cid:a.png">' };
  const image = { name: 'a.png', contentType: 'image/png', content: Buffer.from('image'), inline: true };
  const page = {
    ...{ name: 'a.pdf', contentType: 'application/pdf' },
    get content(): Buffer {
      throw new Error('The mailbox must not draw this file.');
    },
  };
  expect(await mails.send({ ...mail, attachments: () => [page, image] })).toBe('sent');
  const [stored] = await mailbox.find({ to: mail.to });
  expect([stored?.attachments, await mailbox.html(stored?.id ?? '')]).toEqual([
    ['a.pdf', 'a.png'],
    `<img src="data:image/png;base64,${image.content.toString('base64')}">`,
  ]);
});

test('the mailbox has the rate limit of a provider: each mail needs a permit, which a mail that is not stored gives back', async () => {
  const left: object[] = [];
  class RecordingLimiter extends UnlimitedProvider {
    override enter(): Promise<CallPermit> {
      return Promise.resolve({ calls: 1, leave: (outcomes) => (left.push(outcomes), Promise.resolve(false)) });
    }
  }
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  const mails = new MailboxMails(new Inbox(transactions), new PostgresMailbox(database), new RecordingLimiter());
  const mail = mailTo(`${newId()}@example.com`);
  await mails.send(mail);
  await mails.send(mail);
  await expect(mails.send({ ...mailTo(mail.to), text: '\0' })).rejects.toThrow();
  expect(left).toEqual([{ answered: 1 }, {}, {}]);
});
