import { openDatabase } from '#platform/postgres/database';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { SendClaims } from '#messaging/inbox/send-claims';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { UnlimitedProvider } from '#messaging/sending/provider-limiter';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { PostgresMailbox } from '../../mailbox/postgres-mailbox.ts';
import { FakeMailgun } from '../../testing/fake-mailgun.ts';
import { FakeSmtpServer } from '../../testing/fake-smtp-server.ts';
import type { MailProvider } from '../application/ports.ts';
import { MailboxMails } from './mailbox-mails.ts';
import { Mailgun } from './mailgun.ts';
import { mailsContract, type ReceivedMail } from './mails.contract.ts';
import { ProviderMails } from './provider-mails.ts';
import { SmtpServer } from './smtp-server.ts';

let testDatabase: TestDatabase;
let database: DataSource;
let statements: SingleStatements;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'mails-test' });
  statements = new SingleStatements(testDatabase.url, 'mails-test-ledger', { onRetry: () => undefined });
});

afterAll(async () => {
  await Promise.all([statements.close(), database.destroy()]);
  await testDatabase.close();
});

const provided = (provider: MailProvider): ProviderMails =>
  new ProviderMails(provider, new SendClaims(statements, { consumer: 'email', lockMs: 20_000 }), new UnlimitedProvider());

mailsContract('the mailbox', () =>
  Promise.resolve({
    mails: new MailboxMails(
      new Inbox(new PostgresTransactionManager(database, { deadlineMs: 10_000 })),
      new PostgresMailbox(database),
      new UnlimitedProvider(),
    ),
    arrived: () =>
      database.query<ReceivedMail[]>(
        `select recipient as "to", subject, text, html from mailbox_messages where channel = 'email'`,
      ),
    close: () => Promise.resolve(),
  }),
);

mailsContract('Mailgun', async () => {
  const peer = await FakeMailgun.start();
  const mails = provided(new Mailgun(peer.settings));
  return {
    mails,
    arrived: () => Promise.resolve(peer.arrived),
    close: async () => {
      await mails.settled();
      await peer.close();
    },
  };
});

mailsContract('SMTP', async () => {
  const peer = await FakeSmtpServer.start();
  const server = new SmtpServer({ url: peer.url, from: 'HNS tickets <tickets@hns.hr>' });
  const mails = provided(server);
  return {
    mails,
    arrived: () => Promise.resolve(peer.arrived),
    close: async () => {
      await mails.settled();
      server.close();
      await peer.close();
    },
  };
});
