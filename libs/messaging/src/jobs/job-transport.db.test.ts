import { createTestRedis, type TestRedis } from '#testing/test-database';
import { createPostgresBackend, Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { GENERAL_QUEUE, postgresTransport, redisTransport } from './job-transport.ts';
import { describeJobTransport } from './testing/job-transport.contract.ts';

let testRedis: TestRedis;
beforeAll(async () => void (testRedis = await createTestRedis()));
afterAll(async () => testRedis.close());

async function skipDelayIn(queue: Queue, jobId: string): Promise<number | undefined> {
  try {
    if ((await queue.getJobState(jobId)) !== 'delayed') return undefined;
    const job = (await queue.getJob(jobId)) as Job | undefined;
    // `promote` sets the delay to 0, so we read it before.
    const delay = job?.delay;
    await job?.promote();
    return delay;
  } finally {
    await queue.close();
  }
}

describeJobTransport('BullMQ in Redis', () => ({
  open: () => Promise.resolve({ transport: redisTransport(testRedis.url), url: testRedis.url }),
  interrupt: async () => {
    const admin = new Redis(testRedis.url);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await admin.quit();
  },
  async skipDelay(jobId) {
    const connection = new Redis(testRedis.url, { maxRetriesPerRequest: null });
    const queue = new Queue(GENERAL_QUEUE, { connection, prefix: '{jobs}', skipVersionCheck: true });
    return skipDelayIn(queue, jobId).finally(() => connection.quit());
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
  async skipDelay(jobId) {
    const connection = new pg.Pool({ connectionString: postgresUrl, max: 1, options: '-c search_path=bullmq' });
    const queue = new Queue(GENERAL_QUEUE, { connection } as never, createPostgresBackend as never);
    return skipDelayIn(queue, jobId).finally(() => connection.end());
  },
  wipe: () =>
    withSeparateClient(async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select quote_ident(tablename) as name from pg_tables where schemaname = 'bullmq' and tablename like 'job%'`,
      );
      await client.query(`truncate ${rows.map(({ name }) => `bullmq.${name}`).join(', ')} cascade`);
    }),
  close: () => Promise.resolve(),
}));
