import { HeldBack } from '../jobs/job-outcomes.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { maxInOneSecond } from '#testing/sliding-second';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  UnlimitedProvider,
  SharedProviderLimiter,
  type ProviderLimiter,
  type ProviderLimiterOptions,
} from './provider-limiter.ts';
import { ProviderCalls } from './provider-calls.ts';

const LIMIT = 10;
let testRedis: TestRedis;
let redis: RedisConnection;
let server: http.Server;
let url: string;
let arrivals: number[];
let answer: { status: number; retryAfter?: string };

beforeAll(async () => {
  testRedis = await createTestRedis();
  redis = connectRedis(testRedis.url, { name: 'vendor-test' });
  await whenReady(redis);
  server = http.createServer((request, response) => {
    arrivals.push(performance.now());
    request.resume();
    response.writeHead(answer.status, answer.retryAfter ? { 'retry-after': answer.retryAfter } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  [arrivals, answer] = [[], { status: 200 }];
  await testRedis.flush();
});
afterAll(async () => {
  redis.disconnect();
  server.closeAllConnections();
  server.close();
  await testRedis.close();
});

const openLimiter = (options: Partial<ProviderLimiterOptions> = {}): ProviderLimiter =>
  new SharedProviderLimiter(redis, {
    provider: 'chat',
    callsPerSecond: LIMIT,
    onBreaker: () => undefined,
    maxWaitMs: 300,
    ...options,
  });

const call = (calls: ProviderCalls): Promise<unknown> => calls.post({ url, headers: {}, body: '{}', timeoutMs: 500 });

/** Repeats the call of the provider while it is held back, like a job does. Returns how many times it was held back. */
async function callUntilAccepted(calls: ProviderCalls): Promise<number> {
  for (let timesHeldBack = 0; ; timesHeldBack += 1) {
    const error = await call(calls).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!error) return timesHeldBack;
    if (!(error instanceof HeldBack) || error.scope !== 'job') throw error;
    await pause(Math.min(error.forMs, 400));
  }
}

test.each([
  { limiter: 'without a limiter', open: () => new UnlimitedProvider(), max: 30 },
  { limiter: 'with a limiter', open: () => openLimiter(), max: LIMIT },
])('thirty simultaneous jobs in two processes $limiter make $max calls in the busiest second', async ({ open, max }) => {
  const processes = [new ProviderCalls(open()), new ProviderCalls(open())];
  await Promise.all(Array.from({ length: 30 }, (_, n) => callUntilAccepted(processes[n % 2] as ProviderCalls)));
  expect([arrivals.length, maxInOneSecond(arrivals)]).toEqual([30, max]);
});

test('a job that would wait too long for the rate limit is held back with the scope `job`, so other jobs of its queue continue', async () => {
  const slow = new ProviderCalls(openLimiter({ callsPerSecond: 1 }));
  await call(slow);
  await expect(call(slow)).rejects.toMatchObject({ scope: 'job', forMs: expect.any(Number) as number });
});

test('an open breaker or an answer 429 holds the job back without losing an attempt; an answer 400 or 503 is an ordinary error', async () => {
  const calls = new ProviderCalls(openLimiter({ failuresToOpen: 2 }));
  answer = { status: 400 };
  await expect(call(calls)).rejects.not.toBeInstanceOf(HeldBack);
  answer = { status: 503 };
  for (let failed = 0; failed < 2; failed += 1) await expect(call(calls)).rejects.not.toBeInstanceOf(HeldBack);
  await expect(call(calls)).rejects.toBeInstanceOf(HeldBack);
  await testRedis.flush();
  answer = { status: 429, retryAfter: '7' };
  await expect(call(calls)).rejects.toMatchObject({ scope: 'job', forMs: 7000 });
});

test('when Redis, which stores the counts of the limiter, is unavailable, the call is made without a limit', async () => {
  const nobody = connectRedis('redis://127.0.0.1:1', { name: 'nobody' });
  await call(
    new ProviderCalls(new SharedProviderLimiter(nobody, { provider: 'chat', callsPerSecond: 1, onBreaker: () => undefined })),
  );
  expect(arrivals).toHaveLength(1);
  await closeRedis(nobody);
});
