import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { loadConfig } from '#platform/config/load-config';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { withMonolithContext } from '../cli/monolith-context.ts';
import { monolithConfig, type MonolithConfig } from '../config.ts';
import { createMonolith } from '../monolith.ts';
import { openResources } from '../resources.ts';
import { JobsApi } from './jobs.api.ts';

let database: TestDatabase;
let redis: TestRedis;

beforeAll(async () => void ([database, redis] = await Promise.all([createTestDatabase(), createTestRedis()])));
afterAll(async () => void (await Promise.all([database.close(), redis.close()])));

const configOf = (settings: Record<string, string>): MonolithConfig =>
  loadConfig(monolithConfig, { DATABASE_URL: database.url, REDIS_URL: redis.url, LOG_LEVEL: 'silent', ...settings });

/** Starts a monolith with its background work, as `main` does, but without listening. */
async function startMonolith(settings: Record<string, string>): Promise<NestFastifyApplication> {
  return createMonolith(await openResources(configOf(settings), 'monolith'));
}

async function put(app: NestFastifyApplication, about: string): Promise<void> {
  const job = { class: 'alert_operators', by: 'webhook', about, text: 'nothing', at: new Date().toISOString() };
  await app.get(TransactionManager, { strict: false }).run((tx) => app.get(Jobs, { strict: false }).put(tx, [job]));
}

async function isDone(app: NestFastifyApplication, about: string, withinMs: number): Promise<boolean> {
  const rows = app.get(DataSource, { strict: false });
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const [job] = await rows.query<{ done: boolean }[]>(
      `select done_at is not null as done from jobs where message ->> 'about' = $1`,
      [about],
    );
    if (job?.done) return true;
    if (Date.now() > giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function until(ask: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + 20_000; !(await ask()); await new Promise((resolve) => setTimeout(resolve, 50)))
    if (Date.now() > giveUpAt) throw new Error(`It did not happen within 20 s: ${ask.toString()}`);
}

/** Runs `jobs:consume --limit 1` and returns how many jobs it ran. */
function consumeOne(settings: Record<string, string>): Promise<number> {
  const limits = { limit: 1, timeLimitSeconds: 10, untilEmpty: false, stop: new AbortController().signal };
  return withMonolithContext(configOf(settings), (context) => context.get(JobsApi, { strict: false }).consume(limits));
}

test.each(['redis', 'postgres'])(
  'with JOBS_TRANSPORT=%s a job has run within a second after its commit',
  async (transport) => {
    const app = await startMonolith({ JOBS_TRANSPORT: transport });
    try {
      await put(app, `warm ${transport}`);
      await isDone(app, `warm ${transport}`, 10_000);
      const from = Date.now();
      await put(app, transport);
      expect(await isDone(app, transport, 10_000)).toBe(true);
      expect(Date.now() - from).toBeLessThan(1000);
    } finally {
      await app.close();
    }
  },
  30_000,
);

test.each(['redis', 'postgres'])(
  'with JOBS_IN_MONOLITH=false and JOBS_TRANSPORT=%s the monolith runs no job, and `jobs:consume` runs it',
  async (transport) => {
    const settings = { JOBS_IN_MONOLITH: 'false', JOBS_TRANSPORT: transport };
    const app = await startMonolith(settings);
    try {
      const about = `separate ${transport}`;
      await put(app, about);
      expect(await isDone(app, about, 1000)).toBe(false);
      expect(await consumeOne(settings)).toBe(1);
      expect(await isDone(app, about, 1000)).toBe(true);
    } finally {
      await app.close();
    }
  },
  30_000,
);

test('with JOBS_IN_MONOLITH=false the monolith still queues lost jobs again and creates alerts about failed jobs', async () => {
  const settings = { JOBS_IN_MONOLITH: 'false', ALERT_WEBHOOK_URL: 'http://127.0.0.1:1/' };
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  // The first job is in no transport, and older than the minute after which an open job counts as lost.
  await sql.query(
    `insert into jobs (id, class, message, created_at)
     values (gen_random_uuid(), 'alert_operators', $1, now() - interval '2 minutes')`,
    [{ class: 'alert_operators', by: 'mail', about: 'lost', text: '', at: new Date().toISOString() }],
  );
  await sql.query(
    `insert into jobs (id, class, message, transport, failed_at) values (gen_random_uuid(), 'remind_fans', '{}', 'redis', now())`,
  );
  await sql.end();
  const app = await startMonolith(settings);
  try {
    expect(await consumeOne(settings)).toBe(1);
    expect(await isDone(app, 'lost', 1000)).toBe(true);
    await until(async () => {
      const query = `select from jobs where message ->> 'about' = 'failed job remind_fans'`;
      return (await app.get(DataSource, { strict: false }).query<unknown[]>(query)).length === 1;
    });
  } finally {
    await app.close();
  }
}, 60_000);

test('without Redis the monolith starts and stops, and its jobs wait; a monolith with JOBS_TRANSPORT=postgres then runs them', async () => {
  const unreachable = 'redis://127.0.0.1:1';
  const waiting = await startMonolith({ REDIS_URL: unreachable });
  await put(waiting, 'waits');
  expect(await isDone(waiting, 'waits', 1000)).toBe(false);
  await waiting.close();
  const doing = await startMonolith({ REDIS_URL: unreachable, JOBS_TRANSPORT: 'postgres' });
  try {
    expect(await isDone(doing, 'waits', 15_000)).toBe(true);
  } finally {
    await doing.close();
  }
}, 60_000);
