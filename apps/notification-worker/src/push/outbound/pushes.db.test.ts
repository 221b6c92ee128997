import type { Transaction } from '#application/transaction-manager';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { UnlimitedProvider } from '#messaging/sending/provider-limiter';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { PostgresMailbox } from '../../mailbox/postgres-mailbox.ts';
import { FakeFcm } from '../../testing/fake-fcm.ts';
import { Fcm } from './fcm.ts';
import { MailboxPushes } from './mailbox-pushes.ts';
import { ProviderPushes } from './provider-pushes.ts';
import { PushLedger } from './push-ledger.ts';
import { pushesContract, type ReceivedPush } from './pushes.contract.ts';

let testDatabase: TestDatabase;
let database: DataSource;
let transactions: PostgresTransactionManager;
let statements: SingleStatements;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'pushes-test' });
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  statements = new SingleStatements(testDatabase.url, 'pushes-test-ledger', { onRetry: () => undefined });
});

afterAll(async () => {
  await Promise.all([statements.close(), database.destroy()]);
  await testDatabase.close();
});

pushesContract('the mailbox', () =>
  Promise.resolve({
    pushes: new MailboxPushes(new Inbox(transactions), new PostgresMailbox(database)),
    arrived: () =>
      database.query<ReceivedPush[]>(
        `select recipient as token, subject as title, text as body from mailbox_messages where channel = 'push'`,
      ),
    close: () => Promise.resolve(),
  }),
);

pushesContract('Firebase Cloud Messaging', async () => {
  const peer = await FakeFcm.start();
  const ledger = new PushLedger(statements, transactions, new PostgresOutbox(), { lockMs: 20_000 });
  return {
    pushes: new ProviderPushes(new Fcm({ base: peer.url, account: peer.account }), ledger, new UnlimitedProvider()),
    arrived: () =>
      Promise.resolve(
        peer.arrived.map(({ token, message }) => ({ token, ...(message.notification as { title: string; body: string }) })),
      ),
    close: () => peer.close(),
  };
});

describe('negative control', () => {
  /** An inbox (the table of processed messages) that treats every message as new. */
  class InboxWithoutMemory extends Inbox {
    protected override remember(
      _tx: Transaction,
      _consumer: string,
      messageIds: readonly string[],
    ): Promise<ReadonlySet<string>> {
      return Promise.resolve(new Set(messageIds));
    }
  }

  test('with an inbox that forgets messages, a push that is sent twice reaches its device twice', async () => {
    const mailbox = new PostgresMailbox(database);
    const pushes = new MailboxPushes(new InboxWithoutMemory(transactions), mailbox);
    const push = { messageId: 'm1', template: 'x', tokens: ['phone'], title: 't', body: 'b', data: {}, urgent: false };
    await pushes.send(push);
    await pushes.send(push);
    expect(await mailbox.find({ to: 'phone' })).toHaveLength(2);
  });
});
