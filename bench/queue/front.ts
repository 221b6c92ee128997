import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { ROOT } from '../../tools/local/build.ts';
import { runCommand } from '../../tools/local/run-command.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { startMonolith, startWorker } from '../instruments/service.ts';
import { openWaitingRoomLines } from './joins.ts';
import { withServer } from './sockets.ts';
import { restoreEmpty } from './new-line.ts';

const UNLIMITED = { RATE_LIMIT_USER_PER_MINUTE: '0', RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'warn' };
/** Pause between two fans who reach the front of the line, so that the fans reach it at a steady rate and not all at once. */
const FAN_INTERVAL_MS = 100;
const PUSH_TIMEOUT_MS = 20_000;

/**
 * Latencies of the push to a fan who has reached the front of the line: through the monolith, its outbox and relay, BullMQ and the
 * worker. Each starts when Redis stores `queue.front_reached` in the stream of the match (the entry id is that time). It ends when
 * the push is sent, which here means stored in the table mailbox_messages instead of given to an external provider.
 */
export async function measureFront({ databaseUrl, redisUrl }: OwnServers, fans: number): Promise<number[]> {
  const url = await createMigratedDatabase(databaseUrl);
  const environment = { ...UNLIMITED, DATABASE_URL: url, REDIS_URL: redisUrl };
  const core = await openWaitingRoomLines(redisUrl, { presenceMs: 1000 });
  const [redis, database] = [new Redis(redisUrl), new pg.Client({ connectionString: url })];
  await database.connect();
  try {
    const monolith = await startMonolith(environment);
    const worker = await startWorker(environment);
    return await withServer(monolith, () =>
      withServer(worker, async () => {
        const matchId = randomUUID();
        await restoreEmpty(core.lines, matchId);
        await core.lines.change(matchId, { status: 'active', processing_rate: 60_000, max_open_windows: 1 });
        const users = await registerFansWithDevices(monolith.url, fans);
        for (const user of users) {
          await core.lines.join(matchId, user);
          await redis.zadd(`queue_seen:{${matchId}}`, Date.now() - 5000, user);
          await core.lines.admit(matchId, 1);
          await sleep(FAN_INTERVAL_MS);
        }
        return await latencies(redis, database, { matchId, fans });
      }),
    );
  } finally {
    await Promise.allSettled([core.close(), redis.quit(), database.end()]);
  }
}

async function createMigratedDatabase(databaseUrl: string): Promise<string> {
  const name = `front_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const env = { PATH: process.env.PATH, DATABASE_URL: url.href, REDIS_URL: 'redis://127.0.0.1:1' };
  const { code, output } = await runCommand(process.execPath, [path.join(ROOT, 'dist/apps/monolith/src/cli.js'), 'migrate'], {
    cwd: ROOT,
    env,
  });
  if (code !== 0) throw new Error(`migrate failed: ${output}`);
  return url.href;
}

async function registerFansWithDevices(url: string, fans: number): Promise<string[]> {
  const users = Array.from({ length: fans }, () => randomUUID());
  for (const user of users) {
    const { status } = await fetch(`${url}/api/v1/me/devices/phone`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-mock-user-id': user, 'idempotency-key': idempotencyKey() },
      body: JSON.stringify({ fcm_token: `token-${user}` }),
    });
    if (status !== 204) throw new Error(`registering a device was answered with ${status}`);
  }
  return users;
}

const idempotencyKey = (): string => randomUUID().replaceAll('-', '');

async function latencies(
  redis: Redis,
  database: pg.Client,
  { matchId, fans }: { matchId: string; fans: number },
): Promise<number[]> {
  const giveUpAt = Date.now() + PUSH_TIMEOUT_MS;
  for (;;) {
    const { rows } = await database.query<{ user_id: string; at_ms: string }>(
      `select user_id, extract(epoch from sent_at) * 1000 as at_ms from mailbox_messages where template = 'queue_front'`,
    );
    if (rows.length < fans && Date.now() < giveUpAt) {
      await sleep(200);
      continue;
    }
    if (rows.length !== fans) throw new Error(`${rows.length} pushes for ${fans} fans`);
    const sentAt = new Map(rows.map(({ user_id, at_ms }) => [user_id, Number(at_ms)]));
    const entries = await redis.xrange(`queue_events_log:{${matchId}}`, '-', '+');
    return entries
      .map(([id, [, text]]) => ({ at: Number.parseInt(id, 10), ...(JSON.parse(text!) as { event: string; user_id: string }) }))
      .filter(({ event }) => event === 'queue.front_reached')
      .map(({ at, user_id }) => (sentAt.get(user_id) ?? Infinity) - at)
      .sort((a, b) => a - b);
  }
}
