import { openDatabase } from '#platform/postgres/database';
import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { seedDemo } from './demo-data.ts';
import { verifyDatabase } from './verify/verify-database.ts';

test('the demo match has quotas of four kinds of owners and mails to invited people, and most of each stand is for sale', async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const before = { ...process.env };
  Object.assign(process.env, { DATABASE_URL: database.url, REDIS_URL: redis.url });
  try {
    const lines = await seedDemo();
    expect(lines).toEqual([
      expect.stringContaining('33424 seats in 24 sectors, with a waiting room'),
      expect.stringContaining('33424 seats in 24 sectors, without a queue'),
    ]);
    const dataSource = await openDatabase({ url: database.url, name: 'test', poolSize: 1 });
    const rows = await dataSource.query<unknown[]>(
      `select q.name, q.depth, count(s.id)::int as places from quotas q join seats s on s.quota_id = q.id group by q.id order by q.id`,
    );
    expect(rows).toEqual([
      { name: 'Gostujući navijači', depth: 1, places: 2784 },
      { name: 'GNK Dinamo', depth: 1, places: 384 },
      { name: 'HNK Hajduk', depth: 1, places: 384 },
      { name: 'Sponzori', depth: 1, places: 144 },
      { name: 'Glavni sponzor', depth: 2, places: 96 },
    ]);
    const mails = await dataSource.query<unknown[]>(
      `select body->'payload'->>'invited_name' as name, body->'payload'->>'locale' as locale, body->'payload'->>'total_amount' as price,
              body->'payload'->>'claim_url' ~ '^http://127.0.0.1:[0-9]+/invitation#inv_' as "hasLink"
       from outbox where destination = 'email' and event = 'quota.invitation' order by seq`,
    );
    expect(mails).toEqual([
      { name: 'Marko Perić', locale: 'hr', price: '90.00 EUR', hasLink: true },
      { name: 'Đurđica Šćepanović-Žižić', locale: 'hr', price: '0.00 EUR', hasLink: true },
      { name: 'Grace Okafor', locale: 'en', price: '0.00 EUR', hasLink: true },
    ]);
    const { ok } = await verifyDatabase(dataSource);
    expect(ok).toBe(true);
    await dataSource.destroy();
  } finally {
    process.env = before;
    await Promise.all([database.close(), redis.close()]);
  }
}, 60_000);
