import { SchedulerRegistry } from '@nestjs/schedule';
import { randomUUID } from 'node:crypto';
import { TransactionManager } from '#application/transaction-manager';
import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { createLogger } from '#platform/logging/logger';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith, ops, type WholeMonolith } from '../testing/whole-monolith.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistKeeper } from './blacklist-keeper.schedule.ts';
import { CachedBlacklist } from './cached-blacklist.ts';
import { PostgresBlacklist } from './postgres-blacklist.ts';

// How the blacklist reaches its copies: the memory of every process, and Redis for the waiting room.

let database: TestDatabase;
let redis: TestRedis;
let first: WholeMonolith;
let second: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  [first, second] = [await openMonolith(settings), await openMonolith(settings)];
});
afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
  await Promise.all([database.close(), redis.close()]);
});

const list = (userId: string, more: Record<string, unknown> = {}, on = first) =>
  on.call('POST', '/api/v1/ops/blacklist', { ...ops, body: { user_id: userId, reason: 'Of the test', ...more } });
const lift = (userId: string) => first.call('DELETE', `/api/v1/ops/blacklist/${userId}`, ops);
const knows = (monolith: WholeMonolith, userId: string) => monolith.get(BlacklistApi).has(userId);
const copy = () => first.resources.redis.hgetall(queueKeys.blacklist);
const refresh = (monolith: WholeMonolith) => monolith.get(BlacklistKeeper).runOnce();

/** Waits until the condition is true. Returns how many milliseconds it waited. */
async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 3000): Promise<number> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`the condition was not true after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - startedAt;
}

test('the process that puts a fan on the blacklist has the entry in memory when it answers the request; another replica has it after its next refresh', async () => {
  const [fan, brief] = [randomUUID(), randomUUID()];
  const ends = new Date(Date.now() + 60_000).toISOString();
  await list(fan);
  await list(brief, { until: ends });
  expect([knows(first, fan), knows(first, brief), knows(second, fan)]).toEqual([true, true, false]);
  await refresh(second);
  expect([knows(second, fan), knows(second, brief)]).toEqual([true, true]);
  expect(await copy()).toMatchObject({ [fan]: '', [brief]: String(Date.parse(ends)) });
  await lift(fan);
  await refresh(second);
  expect([knows(first, fan), knows(second, fan), knows(second, brief)]).toEqual([false, false, true]);
  expect(await copy()).not.toHaveProperty(fan);
});

test('a process with background work has a new entry within 0.5 s if it gets the Redis message about it, and within 1.6 s if that message is lost', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const tasks = new PeriodicTasks(new SchedulerRegistry(), logger, true);
  const keeper = new BlacklistKeeper(second.get(CachedBlacklist), second.config, logger, tasks);
  const before = randomUUID();
  await list(before);
  await keeper.onApplicationBootstrap();
  tasks.onApplicationBootstrap();
  expect(knows(second, before)).toBe(true);
  await until(async () => Number((await first.resources.redis.pubsub('NUMSUB', BLACKLIST_CHANNEL))[1]) > 0);
  const [published, unpublished] = [randomUUID(), randomUUID()];
  await list(published);
  const notifiedMs = await until(() => knows(second, published));
  await first.dataSource.query(
    `with put as (insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $1, 'x', $1, now()))
     insert into blacklist_changes (user_id, action, by, at) values ($1, 'list', $1, now())`,
    [unpublished],
  );
  const polledMs = await until(() => knows(second, unpublished));
  await tasks.stop();
  await keeper.beforeApplicationShutdown();
  expect(notifiedMs).toBeLessThan(500);
  expect(polledMs).toBeLessThan(1600);
});

test('when two transactions add entries to the blacklist at once, no copy ever has the later entry without the earlier one', async () => {
  // The blacklist must be long, so that this test fails without the table lock. With few entries both new entries share an index
  // page: SERIALIZABLE then sees a conflict and makes one writer run again, even without the table lock.
  await first.dataSource.query(
    `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) select id, id, 'x', id, now()
     from (select gen_random_uuid() as id from generate_series(1, 3000)) as fans`,
  );
  const [slow, quick] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`];
  const blacklist = first.get(PostgresBlacklist);
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slowly = first.get(TransactionManager).run(async (tx) => {
    const now = await blacklist.lock(tx);
    await blacklist.put(tx, {
      id: randomUUID(),
      userId: slow,
      reason: 'Of the test',
      until: null,
      listedBy: ops.as,
      listedAt: now,
    });
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  let isAnswered = false;
  const quickly = list(quick, {}, second).finally(() => (isAnswered = true));
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => isAnswered || (await first.dataSource.query(waits)).length > 0);
  // The lock of a writer does not block readers: neither a process that refreshes its copy nor a checkout.
  const reading = Promise.all([
    refresh(second),
    first.get(TransactionManager).run((tx) => first.get(BlacklistApi).listed(tx, [slow])),
  ]);
  const timeout = new Promise<string>((resolve) => setTimeout(() => resolve('blocked'), 5000).unref());
  const read = await Promise.race([reading, timeout]);
  mayCommit.resolve();
  await Promise.all([slowly, quickly, reading]);
  expect(read).toEqual([undefined, new Set()]);
  await Promise.all([refresh(first), refresh(second)]);
  expect([first, second].map((monolith) => [knows(monolith, slow), knows(monolith, quick)])).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('after a loss of Redis the next refresh writes the whole blacklist to Redis again; a refresh of an unchanged blacklist writes nothing', async () => {
  const fan = randomUUID();
  await list(fan);
  await redis.flush();
  expect(await copy()).toEqual({});
  await refresh(second);
  const written = await copy();
  expect([written[fan], written[BLACKLIST_REVISION]]).toEqual(['', expect.stringMatching(/^\d+$/)]);
  await first.resources.redis.hset(queueKeys.blacklist, 'mark', 'not written again');
  await refresh(first);
  await refresh(second);
  expect(await copy()).toHaveProperty('mark');
  await lift(fan);
  expect(await copy()).not.toHaveProperty('mark');
});

test('a stale copy of the blacklist in Redis is corrected by the next refresh of a process that has a newer revision', async () => {
  const fan = randomUUID();
  const stale = await copy();
  await list(fan);
  await first.resources.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, stale).exec();
  expect(await copy()).not.toHaveProperty(fan);
  await refresh(second);
  expect(await copy()).toHaveProperty(fan, '');
});

test('a blacklist of 6,000 fans is written to memory and Redis, and a refresh of an unchanged blacklist reads none of the fans', async () => {
  await first.dataSource.query(
    `with fans as (select gen_random_uuid() as id from generate_series(1, 6000)),
     put as (insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) select id, id, 'x', id, now() from fans)
     insert into blacklist_changes (user_id, action, by, at) select id, 'list', id, now() from fans`,
  );
  await refresh(first);
  expect(Object.keys(await copy()).length).toBeGreaterThan(6000);
  const [oldest] = await first.dataSource.query<{ id: string }[]>(
    `select user_id as id from blacklist order by entry_id limit 1`,
  );
  expect(knows(first, oldest?.id ?? '')).toBe(true);
  const startedAt = performance.now();
  for (let refreshes = 0; refreshes < 20; refreshes += 1) await first.get(CachedBlacklist).refreshMemory();
  expect((performance.now() - startedAt) / 20).toBeLessThan(10);
});
