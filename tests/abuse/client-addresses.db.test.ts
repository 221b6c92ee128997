import { randomUUID } from 'node:crypto';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { serviceFixture, type ServiceFixture } from '../../apps/queue-service/src/waiting-room/testing/service-fixture.ts';
import { openMonolith, type WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: a client behind our proxy gets around the limit of its address. It changes the port or writes other text before its
 * address in X-Forwarded-For, or it sends from many /64 networks of its IPv6 network.
 */

const PER_MINUTE = 10;
const settings = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_IP_PER_MINUTE: String(PER_MINUTE) };

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;
let queue: ServiceFixture;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url, ...settings });
  queue = await serviceFixture({ REDIS_URL: redis.url, ...settings });
});
beforeEach(() => redis.flush());
afterAll(async () => {
  await monolith.close();
  await queue.close();
  await Promise.all([database.close(), redis.close()]);
});

const services = {
  monolith: async (headers: Record<string, string>) => (await monolith.call('GET', '/api/v1/matches', { headers })).status,
  'queue service': async (headers: Record<string, string>) =>
    (await queue.call('GET', `/api/v1/queue/${randomUUID()}/status`, { headers })).status,
};

/** Sends 60 requests one after the other, the n-th with X-Forwarded-For `from(n)`. Returns how many were not refused. */
async function accepted(service: keyof typeof services, from: (n: number) => string): Promise<number> {
  let count = 0;
  for (let n = 0; n < 60; n += 1) if ((await services[service]({ 'x-forwarded-for': from(n) })) !== 429) count += 1;
  return count;
}

describe.each(['monolith', 'queue service'] as const)('limit by address of the %s', (service) => {
  test.each<[string, (n: number) => string]>([
    ['one IPv4 address with 60 ports', (n) => `203.0.113.7:${40_000 + n}`],
    ['one IPv6 address with 60 ports', (n) => `[2001:db8:1:2::7]:${40_000 + n}`],
    ['one IPv4 address in its IPv6 forms', (n) => (n % 2 === 0 ? '::ffff:203.0.113.7' : '::ffff:cb00:7107')],
    ['an address behind 60 texts that are no address', (n) => `garbage-${n}, 203.0.113.7`],
    ['60 texts that are no address', (n) => `garbage-${n}`],
    ['60 texts that a trusted proxy has passed on', (n) => `203.0.113.${n}, garbage-${n}, 127.0.0.1`],
  ])('%s is one address', async (_what, from) => {
    expect(await accepted(service, from)).toBe(PER_MINUTE);
  });

  test('60 addresses have 60 limits', async () => {
    expect(await accepted(service, (n) => `203.0.113.${n}`)).toBe(60);
  });

  test('a /48 network of IPv6 has ten times the limit, however many of its /64 networks are used', async () => {
    const network = (n: number) => `2001:db8:1:${n.toString(16)}::1`;
    expect((await accepted(service, network)) + (await accepted(service, (n) => network(60 + n)))).toBe(10 * PER_MINUTE);
    expect(await accepted(service, (n) => `2001:db8:2:${n}::1`)).toBe(60);
  });
});
