import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { loadConfig } from '#platform/config/load-config';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { monolithConfig } from '../config.ts';
import { createMonolith } from '../monolith.ts';
import { openResources } from '../resources.ts';

let database: TestDatabase;
let redis: TestRedis;

beforeAll(async () => void ([database, redis] = await Promise.all([createTestDatabase(), createTestRedis()])));
afterAll(async () => void (await Promise.all([database.drop(), redis.close()])));

/** Starts a monolith with its background work, as `main` does, but without listening. */
async function startMonolith(settings: Record<string, string>): Promise<NestFastifyApplication> {
  const config = loadConfig(monolithConfig, {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'silent',
    ...settings,
  });
  return createMonolith(await openResources(config, 'monolith'));
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
