import { pingDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { seatIsFree } from '../purchase/seat-is-free.api.ts';
import { cliConfig, print, withDatabase } from './environment.ts';

const MATCHES = `
  select m.id, m.home || ' – ' || m.away as name,
         case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end as sale,
         count(*) filter (where ${seatIsFree('s')})::int as free,
         count(*) filter (where s.status = 'sold')::int as sold
  from matches m left join seats s on s.match_id = m.id group by m.id order by m.kickoff_at`;

const OUTBOX = `
  select count(*) filter (where parked_at is null)::int as pending, count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::int as oldest_seconds from outbox`;

async function readStatus(dataSource: DataSource) {
  await pingDatabase(dataSource);
  const [outbox] = await dataSource.query<{ pending: number; parked: number; oldest_seconds: number }[]>(OUTBOX);
  const matches = await dataSource.query<{ id: string; name: string; sale: string; free: number; sold: number }[]>(MATCHES);
  return { outbox: outbox!, matches };
}

/** Adds the command `status`. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('whether PostgreSQL and Redis run, the sale of each match, and the messages in the outbox')
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ json }: { json?: boolean }) => {
      const config = cliConfig();
      const redis = connectRedis(config.REDIS_URL, { name: 'cli' });
      const isRedisUp = await whenReady(redis, 2000);
      await closeRedis(redis);
      const { outbox, matches } = await withDatabase(config.DATABASE_URL, readStatus);
      if (json) return print(JSON.stringify({ postgresql: true, redis: isRedisUp, outbox, matches }));
      print(`PostgreSQL up, Redis ${isRedisUp ? 'up' : 'DOWN'}`);
      print(`outbox: ${outbox.pending} waiting (oldest ${outbox.oldest_seconds} s), ${outbox.parked} parked`);
      for (const match of matches)
        print(`${match.name}: sale ${match.sale}, ${match.free} free, ${match.sold} sold  ${match.id}`);
    });
}
