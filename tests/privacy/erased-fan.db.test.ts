import { notificationJob } from '#messaging/jobs/job-policy';
import { openQueue } from '#messaging/jobs/open-queues';
import { openDatabase } from '#platform/postgres/database';
import { createLogger } from '#platform/logging/logger';
import { closeRedis, connectRedis, type RedisConnection, whenReady } from '#platform/redis/redis-connection';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { FanErasures } from '../../apps/monolith/src/cli/retention/fan-erasures.ts';
import { Retention } from '../../apps/monolith/src/cli/retention/retention.ts';
import { openLoggedSystem, type LoggedSystem } from '../following/system.ts';
import { FanLife, type BusyFan } from './everything-of-a-fan.ts';

let system: LoggedSystem;
let owner: DataSource;
let redis: RedisConnection;
let erasures: FanErasures;

beforeAll(async () => {
  system = await openLoggedSystem();
  owner = await openDatabase({ url: system.ownerUrl, name: 'retention-test', poolSize: 1 });
  redis = connectRedis(system.redisUrl, { name: 'retention-test' });
  await whenReady(redis);
  erasures = new FanErasures(owner, redis);
}, 60_000);
afterAll(async () => {
  await closeRedis(redis);
  await owner.destroy();
  await system.close();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The places in which the text is found: every table, every key of Redis, and the logs. */
async function placesOf(text: string): Promise<string[]> {
  const tables = await owner.query<{ name: string }[]>(
    `select format('%I', table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const places: string[] = [];
  for (const { name } of tables) {
    const [row] = await owner.query<{ n: number }[]>(
      `select count(*)::int as n from ${name} t where position(lower($1) in lower(t::text)) > 0`,
      [text],
    );
    if (row?.n) places.push(`table ${name}`);
  }
  for (const [key, value] of await everyKey())
    if (`${key} ${value}`.toLowerCase().includes(text.toLowerCase())) places.push(`key ${key}`);
  if (system.grep(text).length > 0) places.push('logs');
  return places;
}

async function everyKey(): Promise<[string, string][]> {
  const keys = await redis.keys('*');
  return Promise.all(keys.map(async (key): Promise<[string, string]> => [key, JSON.stringify(await valueOf(key))]));
}

async function valueOf(key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'list':
      return redis.lrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}

async function foundOf({ personal }: BusyFan): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [what, text] of Object.entries(personal)) {
    const places = await placesOf(text);
    if (places.length > 0) found[what] = places;
  }
  return found;
}

/** A mail to the fan waits an hour for its second attempt, with its copy in PostgreSQL. Returns its id. */
async function queueMail(to: BusyFan): Promise<string> {
  const id = randomUUID();
  const body = { job_id: id, type: 'email', template: 'refund', recipient: to.personal['e-mail address'], user_id: to.id };
  await owner.query(`insert into queued_jobs (message_id, queue, body) values ($1, 'email', $2)`, [id, JSON.stringify(body)]);
  const queue = openQueue('email', redis);
  const { name, data, opts } = notificationJob(id, body);
  await queue.add(name, data, { ...opts, delay: 3_600_000 });
  await queue.close();
  return id;
}

async function statusOfErasing(fan: FanLife): Promise<number> {
  const answer = await fetch(`${system.url}/me`, { method: 'DELETE', headers: { 'x-mock-user-id': fan.id } });
  return answer.status;
}

test('after the erasing nothing of a fan who did everything is in any table, in Redis or in the logs', async () => {
  const life = new FanLife(system);
  const fan = await life.live();
  const mailId = await queueMail(fan);
  // The search finds what is there: otherwise it would prove nothing.
  const before = await foundOf(fan);
  expect(Object.keys(before).sort()).toEqual(Object.keys(fan.personal).sort());
  expect(before['e-mail address']).toEqual(
    expect.arrayContaining([
      'table fans',
      'table orders',
      'table invitations',
      'table idempotency_keys',
      'table loaded_events',
      'table transfer_offers',
    ]),
  );
  expect(before['e-mail address']).not.toContain('logs');

  expect(await statusOfErasing(life)).toBe(409);
  await system.rows(`update matches set kickoff_at = now() - interval '1 day' where id = any($1)`, [fan.matchIds]);
  expect(await statusOfErasing(life)).toBe(204);
  expect(await life.call('GET', '/me')).toEqual({ email: null, name: null, locale: 'hr' });

  // A pass that breaks off leaves nothing undone: the next one begins again.
  const withoutRedis = Object.create(redis, { del: { value: () => Promise.reject(new Error('no Redis')) } }) as RedisConnection;
  await expect(new FanErasures(owner, withoutRedis).runOnce(0)).rejects.toThrow('no Redis');
  // What the retention job does every ten seconds, until it has finished.
  let finished = 0;
  for (let passes = 0; passes < 60 && finished === 0; passes += 1) {
    await pause(1000);
    finished = await erasures.runOnce(0);
  }
  expect(finished).toBe(1);
  // So long the waiting room tells open sockets how the place in the line has ended.
  await pause(6000);
  expect(await foundOf(fan)).toEqual({});
  expect(await redis.exists(`{notification}:email:${mailId}`)).toBe(0);
  expect(await owner.query('select from queued_jobs where message_id = $1', [mailId])).toEqual([]);
  const [erasure] = await system.rows('select user_id, traces, done_at is not null as done from erasures');
  expect(erasure).toEqual({ user_id: fan.id, traces: null, done: true });
  // The books are as they were.
  const kept = await system.rows<{ status: string; total_cents: number }>(
    'select status, total_cents from orders where user_id = $1',
    [fan.id],
  );
  expect(kept.map(({ status }) => status)).toContain('completed');
  const events = await owner.query<{ id: string; payload: unknown }[]>(
    'select event_id as id, payload from loaded_events order by event_id',
  );
  expect(events).toEqual([
    { id: '1', payload: { erased: true } },
    { id: '2', payload: { erased: true } },
    { id: '3', payload: { erased: true } },
    { id: '4', payload: { code: 'TRB1.somebody-else', email: 'other@example.hr' } },
  ]);
}, 120_000);

test('the retention job runs all its rules as the owner, and notes each run', async () => {
  const retention = new Retention(owner, redis, erasures, createLogger({ service: 'test', level: 'silent' }));
  const reports = await retention.runRules();
  const noted = await system.rows<{ rule: string }>('select rule from retention_runs');
  expect(noted.map(({ rule }) => rule).sort()).toEqual(reports.map(({ name }) => name).sort());
});
