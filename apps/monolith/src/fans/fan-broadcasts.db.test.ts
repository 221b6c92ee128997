import { anyPushJob } from '#contracts/queue-jobs';
import { openDatabase } from '#platform/postgres/database';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { newId } from '#platform/ids';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { DeadTokensDestination } from './dead-tokens-destination.ts';
import { PostgresFanBroadcasts } from './postgres-fan-broadcasts.ts';

let testDatabase: TestDatabase;
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'broadcasts-test' });
});

afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

test('a broadcast stores every device once and makes one job for each 500 devices of a language', async () => {
  await database.query(
    `insert into fans (user_id, locale) select gen_random_uuid(), case when n % 3 = 0 then 'en' else 'hr' end from generate_series(1, 1500) n`,
  );
  await database.query(
    `insert into devices (user_id, device_id, fcm_token) select user_id, 'phone', 'token-' || user_id from fans`,
  );
  const otherFan = newId();
  await database.query(`insert into devices (user_id, device_id, fcm_token) values ($1, 'phone', 'not-included')`, [otherFan]);
  const fans = await database.query<{ user_id: string }[]>('select user_id from fans');
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  const broadcasts = new PostgresFanBroadcasts(database, new PostgresOutbox(), { PUSH_PROVIDER: 'mailbox' });
  const devices = await broadcasts.devicesOf(fans.map(({ user_id }) => user_id));
  const created = await transactions.run((tx) =>
    broadcasts.create(tx, {
      template: 'match_changed',
      event: 'match.changed',
      devices,
      texts: { hr: { title: 'Promjena', body: 'Novi termin' }, en: { title: 'Change', body: 'New date' } },
      data: { match_id: 'm' },
    }),
  );
  // 1,000 Croatian devices make two jobs, 500 English devices make one.
  expect(created).toMatchObject({ devices: 1500, jobs: 3 });
  const rows = await database.query<{ body: unknown }[]>(`select body from outbox where destination = 'push' order by seq`);
  const jobs = rows.map(({ body }) => anyPushJob.parse(body));
  expect(jobs.map((job) => ('range' in job ? [job.payload.title, job.range] : 'no range'))).toEqual([
    ['Promjena', { from: 0, to: 500 }],
    ['Promjena', { from: 500, to: 1000 }],
    ['Change', { from: 1000, to: 1500 }],
  ]);
  const [written] = await database.query<{ devices: number; tokens: number; last: number }[]>(
    `select count(*)::int as devices, count(distinct fcm_token)::int as tokens, max(ordinal) as last from broadcast_devices`,
  );
  expect(written).toEqual({ devices: 1500, tokens: 1500, last: 1499 });
});

test('a broadcast to 50,000 fans fits into one transaction', async () => {
  const fans = await database.query<{ user_id: string }[]>(
    `with fan as (select gen_random_uuid() as user_id, n from generate_series(1, 50000) n)
     insert into devices (user_id, device_id, fcm_token) select user_id, 'phone', 'many-' || n from fan returning user_id`,
  );
  const broadcasts = new PostgresFanBroadcasts(database, new PostgresOutbox(), { PUSH_PROVIDER: 'mailbox' });
  const devices = await broadcasts.devicesOf(fans.map(({ user_id }) => user_id));
  const text = { title: 'Promjena', body: 'Novi termin' };
  const broadcast = {
    template: 'match_changed',
    event: 'match.changed',
    devices,
    texts: { hr: text, en: text },
    data: {},
  } as const;
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  expect(await transactions.run((tx) => broadcasts.create(tx, broadcast))).toMatchObject({ devices: 50_000, jobs: 100 });
}, 30_000);

test('the device of a dead push token is deleted, unless the app registered the token again later', async () => {
  const now = Date.now();
  await database.query(
    `insert into devices (user_id, device_id, fcm_token, updated_at) values
       (gen_random_uuid(), 'a', 'dead', $1), (gen_random_uuid(), 'b', 'registered again', $2), (gen_random_uuid(), 'c', 'alive', $1)`,
    [new Date(now - 60_000), new Date(now + 60_000)],
  );
  const destination = new DeadTokensDestination(database);
  const body = { fcm_tokens: ['dead', 'registered again'], found_at: new Date(now).toISOString() };
  expect(await destination.deliver([{ id: 'm1', event: 'device.tokens_dead', body }])).toEqual([
    { id: 'm1', outcome: 'delivered' },
  ]);
  const remaining = await database.query<{ fcm_token: string }[]>(
    `select fcm_token from devices where fcm_token in ('dead', 'registered again', 'alive') order by 1`,
  );
  expect(remaining.map(({ fcm_token }) => fcm_token)).toEqual(['alive', 'registered again']);
  expect(await destination.deliver([{ id: 'm2', event: 'x', body: {} }])).toMatchObject([{ outcome: 'poison' }]);
});
