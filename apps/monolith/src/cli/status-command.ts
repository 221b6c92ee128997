import { openDatabase, pingDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { seatIsFree } from '../purchase/seat-is-free.api.ts';
import { cliConfig, print } from './environment.ts';

interface Status {
  readonly postgresql: boolean;
  readonly redis: boolean;
  readonly outbox: { pending: number; parked: number; oldest_seconds: number } | null;
  readonly matches: readonly { id: string; name: string; sale: string; free: number; sold: number }[];
}

const MATCHES = `
  select m.id, m.home || ' – ' || m.away as name,
         case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end as sale,
         count(*) filter (where ${seatIsFree('s')})::int as free,
         count(*) filter (where s.status = 'sold')::int as sold
  from matches m left join seats s on s.match_id = m.id group by m.id order by m.kickoff_at`;

const OUTBOX = `
  select count(*) filter (where parked_at is null)::int as pending, count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::int as oldest_seconds from outbox`;

async function readStatus(dataSource: DataSource, redis: boolean): Promise<Status> {
  await pingDatabase(dataSource);
  const [outbox] = (await dataSource.query(OUTBOX)) as { pending: number; parked: number; oldest_seconds: number }[];
  return { postgresql: true, redis, outbox: outbox ?? null, matches: (await dataSource.query(MATCHES)) as Status['matches'] };
}

/** Adds the command `status`. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('whether PostgreSQL and Redis run, the sale of each match, and the messages in the outbox')
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ json }: { json?: boolean }) => {
      const config = cliConfig();
      const dataSource = await openDatabase({ url: config.DATABASE_URL, name: 'cli', poolSize: 2 });
      const redis = connectRedis(config.REDIS_URL, { name: 'cli' });
      const status = await readStatus(dataSource, await whenReady(redis, 2000));
      await closeRedis(redis);
      await dataSource.destroy();
      if (json) return print(JSON.stringify(status));
      print(`PostgreSQL up, Redis ${status.redis ? 'up' : 'DOWN'}`);
      print(
        `outbox: ${status.outbox?.pending} waiting (oldest ${status.outbox?.oldest_seconds} s), ${status.outbox?.parked} parked`,
      );
      for (const match of status.matches)
        print(`${match.name}: sale ${match.sale}, ${match.free} free, ${match.sold} sold  ${match.id}`);
    });
}
