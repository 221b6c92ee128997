import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { openMonolith } from './testing/whole-monolith.ts';

let database: TestDatabase;
let redis: TestRedis;
beforeAll(async () => void ([database, redis] = await Promise.all([createTestDatabase(), createTestRedis()])));
afterAll(async () => void (await Promise.all([database.close(), redis.close()])));

test('the monolith has closed its connections to PostgreSQL and Redis when `close` returns', async () => {
  const { app, resources } = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  expect([resources.dataSource.isInitialized, await resources.redis.ping()]).toEqual([true, 'PONG']);
  await app.close();
  expect(resources.dataSource.isInitialized).toBe(false);
  await expect(resources.redis.ping()).rejects.toThrow();
});
