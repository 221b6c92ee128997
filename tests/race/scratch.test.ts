import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { openMonolith, putOnSale, seated } from '../../apps/monolith/src/testing/whole-monolith.ts';

const BUYERS = Number(process.env.BUYERS ?? 500);
test('scratch F01', async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const apps = [await openMonolith(settings), await openMonolith(settings)];
  const only = apps[0]!;
  const out: string[] = [];
  for (const [label, sectors] of [['50 seats', [seated('A')]], ['20k seats', [seated('A'), ...Array.from({ length: 20 }, (_, i) => seated(`S${i}`, 20, 50))]], ['big', [seated('A', 40, 50)]]] as const) {
    await only.dataSource.query('analyze');
    const match = await putOnSale(only, { sectors });
    const one = performance.now();
    await only.call('POST', `/api/v1/matches/${match.id}/reservations`, { as: randomUUID(), body: { sector_id: match.sectors.at(-1)!.id, quantity: 2 } });
    const single = performance.now() - one;
    const times: number[] = [];
    const codes = new Map<string, number>();
    const before = (await only.metric('transaction_retries_total')) + (await apps[1]!.metric('transaction_retries_total'));
    const cpu = process.cpuUsage();
    const begun = Date.now();
    await Promise.all(
      Array.from({ length: BUYERS }, async (_, i) => {
        const at = performance.now();
        const answer = await apps[i % 2]!.call('POST', `/api/v1/matches/${match.id}/reservations`, { as: randomUUID(), body: { sector_id: match.sectors[0]!.id, quantity: 1 + (i % 4) } });
        times.push(performance.now() - at);
        const code = answer.status === 201 ? '201' : String(answer.json?.code);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }),
    );
    times.sort((a, b) => a - b);
    const retries = (await only.metric('transaction_retries_total')) + (await apps[1]!.metric('transaction_retries_total')) - before;
    const [row] = await only.dataSource.query(`select count(*) filter (where status='held') as held from seats where match_id=$1`, [match.id]);
    const used = process.cpuUsage(cpu);
    out.push([label, 'single', Math.round(single), JSON.stringify([...codes]), 'held', row.held, 'ms', Date.now() - begun, 'p50', Math.round(times[BUYERS / 2]!), 'p99', Math.round(times.at(-5)!), 'retries', retries, 'node cpu ms', (used.user + used.system) / 1000].join(' '));
  }
  console.log(out.join('\n'));
  await Promise.all(apps.map((a) => a.close()));
  await database.drop();
  await redis.close();
}, 120_000);
