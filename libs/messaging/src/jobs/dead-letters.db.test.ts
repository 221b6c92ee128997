import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { DeadLetters } from './dead-letters.ts';

const NOW = Date.parse('2026-09-15T14:00:00Z');
const DAY_MS = 24 * 3_600_000;
let server: TestRedis;
let redis: Redis;
let reported: Set<string>;
let letters: DeadLetters;

beforeEach(async () => {
  server = await createTestRedis();
  redis = new Redis(server.url);
  reported = new Set();
  letters = new DeadLetters(
    redis,
    '{notification}',
    ['email', 'push'],
    (subjects) => Promise.resolve(new Set(subjects.filter((subject) => !reported.has(subject)))),
    () => NOW,
  );
});
afterEach(async () => {
  await redis.quit();
  await server.close();
});

/** Stores failed jobs in Redis like BullMQ does. */
async function storeFailed(queue: string, jobs: readonly { id: string; at: number; data?: string }[]): Promise<void> {
  const pipeline = redis.pipeline();
  for (const { id, at, data = '{"template":"refund"}' } of jobs) {
    pipeline.zadd(`{notification}:${queue}:failed`, at, id);
    pipeline.hset(`{notification}:${queue}:${id}`, { data, failedReason: 'no' });
  }
  await pipeline.exec();
}

/** Reads unreported dead letters until there are none left, and marks each as reported, like AlertUpkeep does. */
async function findAll(): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const unreported = await letters.unreported();
    if (unreported.length === 0) return found;
    for (const { subject, jobId } of unreported) {
      reported.add(subject);
      found.push(jobId);
    }
  }
}

test('2,500 unreported dead letters are each found once, and a dead letter that was reported before is not found', async () => {
  const jobs = Array.from({ length: 2500 }, (_, n) => ({ id: `job-${n}`, at: NOW - 3_600_000 + Math.floor(n / 3) }));
  await storeFailed('email', jobs);
  await storeFailed('push', [{ id: 'push-1', at: NOW }]);
  reported.add(`email:job-7:${NOW - 3_600_000 + 2}`);
  const found = await findAll();
  expect(found.length).toBe(2500);
  expect(new Set(found)).toEqual(new Set([...jobs.map(({ id }) => id).filter((id) => id !== 'job-7'), 'push-1']));
});

test('a dead letter has its template and reason; the template is undefined if the job is not valid JSON', async () => {
  await storeFailed('email', [
    { id: 'a', at: NOW },
    { id: 'b', at: NOW, data: 'no JSON' },
  ]);
  expect(await letters.unreported()).toEqual([
    { queue: 'email', jobId: 'a', template: 'refund', reason: 'no', subject: `email:a:${NOW}` },
    { queue: 'email', jobId: 'b', template: undefined, reason: 'no', subject: `email:b:${NOW}` },
  ]);
});

test('a job that fails for good a second time is a new dead letter, and a job that is being retried is not a dead letter', async () => {
  await storeFailed('email', [
    { id: 'a', at: NOW - 1000 },
    { id: 'b', at: NOW },
  ]);
  expect(await findAll()).toEqual(['a', 'b']);
  await redis.zadd('{notification}:email:failed', NOW, 'a');
  await redis.zrem('{notification}:email:failed', 'b');
  expect(await findAll()).toEqual(['a']);
});

test('a dead letter of a worker whose clock is five minutes slow is found even if a dead letter with a later time was reported before', async () => {
  await storeFailed('email', [{ id: 'a', at: NOW }]);
  expect(await findAll()).toEqual(['a']);
  await storeFailed('email', [{ id: 'slow', at: NOW - 300_000 }]);
  expect(await findAll()).toEqual(['slow']);
});

test('a dead letter older than a week is not reported', async () => {
  await storeFailed('email', [
    { id: 'old', at: NOW - 8 * DAY_MS },
    { id: 'young', at: NOW - 6 * DAY_MS },
  ]);
  expect(await findAll()).toEqual(['young']);
});
