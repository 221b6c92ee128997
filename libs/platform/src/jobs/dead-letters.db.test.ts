import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { DeadLetters } from './dead-letters.ts';

const NOW = Date.parse('2026-09-15T14:00:00Z');
const DAY_MS = 24 * 3_600_000;
let server: TestRedis;
let redis: Redis;
let noted: Set<string>;
let letters: DeadLetters;

beforeEach(async () => {
  server = await createTestRedis();
  redis = new Redis(server.url);
  noted = new Set();
  letters = new DeadLetters(
    redis,
    '{notification}',
    ['email', 'push'],
    (subjects) => Promise.resolve(new Set(subjects.filter((subject) => !noted.has(subject)))),
    () => NOW,
  );
});
afterEach(async () => {
  await redis.quit();
  await server.close();
});

/** As BullMQ keeps failed jobs. */
async function fail(queue: string, jobs: readonly { id: string; at: number; data?: string }[]): Promise<void> {
  const pipeline = redis.pipeline();
  for (const { id, at, data = '{"template":"refund"}' } of jobs) {
    pipeline.zadd(`{notification}:${queue}:failed`, at, id);
    pipeline.hset(`{notification}:${queue}:${id}`, { data, failedReason: 'no' });
  }
  await pipeline.exec();
}

/** Asks until nothing is left, as the loop does; notes what it was told. */
async function findAll(): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const some = await letters.unreported();
    if (some.length === 0) return found;
    for (const { subject, jobId } of some) {
      noted.add(subject);
      found.push(jobId);
    }
  }
}

test('finds each dead letter that nobody has noted, however many, and none twice', async () => {
  const jobs = Array.from({ length: 2500 }, (_, n) => ({ id: `job-${n}`, at: NOW - 3_600_000 + Math.floor(n / 3) }));
  await fail('email', jobs);
  await fail('push', [{ id: 'push-1', at: NOW }]);
  noted.add(`email:job-7:${NOW - 3_600_000 + 2}`);
  const found = await findAll();
  expect(found.length).toBe(2500);
  expect(new Set(found)).toEqual(new Set([...jobs.map(({ id }) => id).filter((id) => id !== 'job-7'), 'push-1']));
});

test('tells the template and the reason; of an unreadable job what it can', async () => {
  await fail('email', [
    { id: 'a', at: NOW },
    { id: 'b', at: NOW, data: 'no JSON' },
  ]);
  expect(await letters.unreported()).toEqual([
    { queue: 'email', jobId: 'a', template: 'refund', reason: 'no', subject: `email:a:${NOW}` },
    { queue: 'email', jobId: 'b', template: undefined, reason: 'no', subject: `email:b:${NOW}` },
  ]);
});

test('one that failed again is another dead letter; one that is retried is none', async () => {
  await fail('email', [
    { id: 'a', at: NOW - 1000 },
    { id: 'b', at: NOW },
  ]);
  expect(await findAll()).toEqual(['a', 'b']);
  await redis.zadd('{notification}:email:failed', NOW, 'a');
  await redis.zrem('{notification}:email:failed', 'b');
  expect(await findAll()).toEqual(['a']);
});

test('a dead letter of a worker whose clock is five minutes behind is found, although later ones are known', async () => {
  await fail('email', [{ id: 'a', at: NOW }]);
  expect(await findAll()).toEqual(['a']);
  await fail('email', [{ id: 'slow', at: NOW - 300_000 }]);
  expect(await findAll()).toEqual(['slow']);
});

test('what is older than a week is left alone', async () => {
  await fail('email', [
    { id: 'old', at: NOW - 8 * DAY_MS },
    { id: 'young', at: NOW - 6 * DAY_MS },
  ]);
  expect(await findAll()).toEqual(['young']);
});
