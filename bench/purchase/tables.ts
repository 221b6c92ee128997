// After every run: what the buyers were told and what the tables say must be the same, and no seat may have two owners.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../tools/local/build.ts';
import type { Place } from './settings.ts';
import { withClient } from './stadiums.ts';

const LIVE = `('held', 'ordered', 'completed')`;
const CLI = path.join(ROOT, 'dist/apps/monolith/src/cli.js');

/** Each counts what must not be. */
const NEVER: Readonly<Record<string, string>> = {
  'seats with two reservations': `
    select count(*) from (
      select seat_id from reservation_seats join reservations r on r.id = reservation_id
      where r.status in ${LIVE} group by seat_id having count(*) > 1) as twice`,
  'reserved seats whose own row says otherwise': `
    select count(*) from reservation_seats join reservations r on r.id = reservation_id left join seats s on s.id = seat_id
    where r.status in ${LIVE} and (s.reservation_id is distinct from r.id or s.status not in ('held', 'sold'))`,
  'taken seats that no reservation names': `
    select count(*) from seats s where status in ('held', 'sold')
      and not exists (select from reservation_seats rs where rs.reservation_id = s.reservation_id and rs.seat_id = s.id)`,
  'reservations with another number of seats than they say': `
    select count(*) from reservations r
    where quantity <> (select count(*) from reservation_seats rs where rs.reservation_id = r.id)`,
  'fans beyond their limit': `
    select count(*) from (
      select from reservations r join matches m on m.id = match_id where r.status in ${LIVE}
      group by match_id, user_id, max_tickets_per_fan having sum(quantity) > max_tickets_per_fan) as greedy`,
  'completed orders without their tickets': `
    select count(*) from orders o join reservations r on r.id = reservation_id where o.status = 'completed'
      and quantity <> (select count(*) from tickets t where t.order_id = o.id and t.status = 'valid')`,
};

export interface Sold {
  /** Reservations that stood there before the run. */
  readonly before: number;
  /** What the buyers counted. */
  readonly bought: number;
  readonly whole: boolean;
}

export async function faultsIn(place: Place, sold: Sold): Promise<string[]> {
  const counted = await withClient(place.databaseUrl, async (client) => {
    const count = async (sql: string): Promise<number> => Number((await client.query<{ count: string }>(sql)).rows[0]?.count);
    const faults = [];
    for (const [what, sql] of Object.entries(NEVER)) {
      const found = await count(sql);
      if (found > 0) faults.push(`${found} ${what}`);
    }
    const kept = sold.whole
      ? await count(`select count(*) from orders where status = 'completed'`)
      : (await count(`select count(*) from reservations`)) - sold.before;
    if (kept !== sold.bought) faults.push(`the buyers count ${sold.bought}, the tables ${kept}`);
    const keys = await count(`select count(*) from idempotency_keys where status is not null`);
    if (keys < sold.bought) faults.push(`${sold.bought} bought, and only ${keys} idempotency keys`);
    return faults;
  });
  return [...counted, ...verified(place)];
}

export async function reservationsIn(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>('select count(*) from reservations');
    return Number(rows[0]?.count);
  });
}

let hasVerify: boolean | undefined;

/** The operators' own proof of the invariants, where this version has it. */
function verified({ databaseUrl, redisUrl }: Place): string[] {
  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [CLI, ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
      encoding: 'utf8',
      timeout: 60_000,
    });
  hasVerify ??= /^\s+verify\b/m.test(cli('--help').stdout);
  if (!hasVerify) return [];
  const { status, stdout, stderr } = cli('verify');
  if (status === 0) return [];
  const broken = stdout.split('\n').filter((line) => line.startsWith('BROKEN'));
  return broken.length > 0
    ? broken.map((line) => `verify: ${line}`)
    : [`verify ended with ${status}: ${stderr.trim().slice(0, 300)}`];
}
