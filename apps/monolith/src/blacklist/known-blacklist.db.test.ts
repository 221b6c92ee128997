import { randomUUID } from 'node:crypto';
import { TransactionManager } from '#application/transaction-manager';
import { BLACKLIST_CHANNEL, BLACKLIST_REVISION, queueKeys } from '#contracts/queue-keys';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith, ops, type WholeMonolith } from '../testing/whole-monolith.ts';
import { Blacklist, BlacklistBroadcast } from './application/ports.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistKeeper } from './inbound/blacklist-keeper.schedule.ts';

// How the list gets around: into the memory of every process, and into Redis for the waiting room.

let database: TestDatabase;
let redis: TestRedis;
let one: WholeMonolith;
let two: WholeMonolith;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  [one, two] = [await openMonolith(settings), await openMonolith(settings)];
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await Promise.all([database.drop(), redis.close()]);
});

const list = (userId: string, more: Record<string, unknown> = {}, on = one) =>
  on.call('POST', '/api/v1/ops/blacklist', { ...ops, body: { user_id: userId, reason: 'Of the test', ...more } });
const lift = (userId: string) => one.call('DELETE', `/api/v1/ops/blacklist/${userId}`, ops);
const knows = (monolith: WholeMonolith, userId: string) => monolith.get(BlacklistApi).has(userId);
const copy = () => one.resources.redis.hgetall(queueKeys.blacklist);
const round = (monolith: WholeMonolith) => monolith.get(BlacklistKeeper).runOnce();

async function until(isSo: () => boolean | Promise<boolean>, patienceMs = 3000): Promise<number> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > patienceMs) throw new Error('it did not come to be');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - startedAt;
}

test('who lists knows it when the answer is there, with its end; another replica a round later', async () => {
  const [fan, brief] = [randomUUID(), randomUUID()];
  const ends = new Date(Date.now() + 60_000).toISOString();
  await list(fan);
  await list(brief, { until: ends });
  expect([knows(one, fan), knows(one, brief), knows(two, fan)]).toEqual([true, true, false]);
  await round(two);
  expect([knows(two, fan), knows(two, brief)]).toEqual([true, true]);
  expect(await copy()).toMatchObject({ [fan]: '', [brief]: String(Date.parse(ends)) });
  await lift(fan);
  await round(two);
  expect([knows(one, fan), knows(two, fan), knows(two, brief)]).toEqual([false, false, true]);
  expect(await copy()).not.toHaveProperty(fan);
});

test('a process with its loops on hears of it within a second, also when nobody could tell it', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const keeper = new BlacklistKeeper(two.get(BlacklistBroadcast), two.config, logger, true);
  const before = randomUUID();
  await list(before);
  await keeper.onApplicationBootstrap();
  expect(knows(two, before)).toBe(true);
  await until(async () => Number((await one.resources.redis.pubsub('NUMSUB', BLACKLIST_CHANNEL))[1]) > 0);
  const [told, untold] = [randomUUID(), randomUUID()];
  await list(told);
  const heardMs = await until(() => knows(two, told));
  await one.dataSource.query(
    `with put as (insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, $1, 'x', $1, now()))
     insert into blacklist_changes (user_id, action, by, at) values ($1, 'list', $1, now())`,
    [untold],
  );
  const lookedMs = await until(() => knows(two, untold));
  await keeper.beforeApplicationShutdown();
  expect(heardMs).toBeLessThan(500);
  expect(lookedMs).toBeLessThan(1600);
});

test('two write at the same time: the list is never known without the entry of the one that began first', async () => {
  // On a list so short that both entries come to lie on one page of its index SERIALIZABLE would keep them apart.
  await one.dataSource.query(
    `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) select id, id, 'x', id, now()
     from (select gen_random_uuid() as id from generate_series(1, 3000)) as fans`,
  );
  const [slow, quick] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`];
  const blacklist = one.get(Blacklist);
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slowly = one.get(TransactionManager).run(async (tx) => {
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
  const quickly = list(quick, {}, two).finally(() => (isAnswered = true));
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => isAnswered || (await one.dataSource.query(waits)).length > 0);
  // Who only asks is not kept waiting, neither the process that looks nor a checkout.
  const asking = Promise.all([round(two), one.get(TransactionManager).run((tx) => one.get(BlacklistApi).listed(tx, [slow]))]);
  const patience = new Promise<string>((resolve) => setTimeout(() => resolve('waits'), 5000).unref());
  const asked = await Promise.race([asking, patience]);
  mayCommit.resolve();
  await Promise.all([slowly, quickly, asking]);
  expect(asked).toEqual([undefined, new Set()]);
  await Promise.all([round(one), round(two)]);
  expect([one, two].map((monolith) => [knows(monolith, slow), knows(monolith, quick)])).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('Redis that has lost everything is told the whole list in the next round, and only then', async () => {
  const fan = randomUUID();
  await list(fan);
  await redis.flush();
  expect(await copy()).toEqual({});
  await round(two);
  const written = await copy();
  expect([written[fan], written[BLACKLIST_REVISION]]).toEqual(['', expect.stringMatching(/^\d+$/)]);
  await one.resources.redis.hset(queueKeys.blacklist, 'mark', 'not written again');
  await round(one);
  await round(two);
  expect(await copy()).toHaveProperty('mark');
  await lift(fan);
  expect(await copy()).not.toHaveProperty('mark');
});

test('an older copy that was written late is put right by whoever knows better', async () => {
  const fan = randomUUID();
  const stale = await copy();
  await list(fan);
  await one.resources.redis.multi().del(queueKeys.blacklist).hset(queueKeys.blacklist, stale).exec();
  expect(await copy()).not.toHaveProperty(fan);
  await round(two);
  expect(await copy()).toHaveProperty(fan, '');
});

test('six thousand fans are written and known, and a look at an unchanged list reads none of them', async () => {
  await one.dataSource.query(
    `with fans as (select gen_random_uuid() as id from generate_series(1, 6000)),
     put as (insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) select id, id, 'x', id, now() from fans)
     insert into blacklist_changes (user_id, action, by, at) select id, 'list', id, now() from fans`,
  );
  await round(one);
  expect(Object.keys(await copy()).length).toBeGreaterThan(6000);
  const [some] = await one.dataSource.query<{ id: string }[]>(`select user_id as id from blacklist order by entry_id limit 1`);
  expect(knows(one, some?.id ?? '')).toBe(true);
  const startedAt = performance.now();
  for (let looks = 0; looks < 20; looks += 1) await one.get(BlacklistBroadcast).look();
  expect((performance.now() - startedAt) / 20).toBeLessThan(10);
});
