import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresTransport, redisTransport } from './job-transport.ts';
import { describeJobTransport } from './testing/job-transport.contract.ts';

let testRedis: TestRedis;
beforeAll(async () => void (testRedis = await createTestRedis()));
afterAll(async () => testRedis.close());

describeJobTransport('BullMQ in Redis', () => ({
  open: () => Promise.resolve({ transport: redisTransport(testRedis.url), url: testRedis.url }),
  interrupt: async () => {
    const admin = new Redis(testRedis.url);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await admin.quit();
  },
  wipe: () => testRedis.flush(),
  close: () => Promise.resolve(),
}));

let postgresUrl: string;

async function withSeparateClient(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await work(client).finally(() => client.end());
}

describeJobTransport('BullMQ in PostgreSQL', () => ({
  async open(databaseUrl) {
    postgresUrl = databaseUrl;
    return { transport: await postgresTransport(databaseUrl), url: databaseUrl };
  },
  interrupt: () =>
    withSeparateClient(async (client) => {
      const isOfTransport = `application_name like 'tribina-jobs%' or application_name like 'bullmq%'`;
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and (${isOfTransport})`,
      );
      expect(rowCount).toBeGreaterThan(1);
    }),
  wipe: () =>
    withSeparateClient(async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select quote_ident(tablename) as name from pg_tables where schemaname = 'bullmq' and tablename like 'job%'`,
      );
      await client.query(`truncate ${rows.map(({ name }) => `bullmq.${name}`).join(', ')} cascade`);
    }),
  close: () => Promise.resolve(),
}));
