import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../crowd.ts';
import type { Answer } from '../history.ts';
import type { Scenario } from '../scenario.ts';

/** Over both lanes of a process. */
const SECTORS = 8;
/** One row may not stop more than its own fan; some seconds are for slow machines. */
const SILENCE_MS = 4000;

interface Sizes {
  readonly buyers: number;
  readonly lockedMs: number;
  readonly delayMs: number;
}

/**
 * F31: PostgreSQL is far away, and a side session holds the row of one seat, then the row of one fan who wants more. Everybody
 * else is to be served meanwhile, in every sector.
 */
export function hotRow({ buyers, lockedMs, delayMs }: Sizes): Scenario {
  return {
    id: 'F31',
    title: `PostgreSQL ${delayMs} ms away, and hot rows locked for ${lockedMs / 1000} s`,
    limitMs: lockedMs + 90_000,
    async play(scene, claim) {
      const proxy = await scene.proxyTo(scene.databaseUrl);
      await scene.start({}, { databaseUrl: proxy.url });
      const match = await scene.onSale(200, SECTORS);
      const [hot, other] = [scene.fan(), scene.fan()];
      claim((await hot.hold(match, { quantity: 1 })) !== undefined, 'the fan has no seat to begin with');
      const free = await other.hold(match, { quantity: 1 });
      await other.giveBack(free?.id ?? '');
      proxy.delayMs = delayMs / 2;
      const holders = new Crowd(scene, { match, buyers, sectors: SECTORS, isLoyal: true, holdsOnly: 1 });
      const crowd = new Crowd(scene, { match, buyers: Math.ceil(buyers / 4), sectors: SECTORS });
      await crowd.sells(3, 60_000);
      const session = await scene.session();
      await session.query('begin');
      await session.query('select 1 from seats where id = any($1) for update', [free?.seatIds]);
      await session.query('select 1 from fan_seats where user_id = $1 for update', [hot.userId]);
      const lockedAt = Date.now();
      const named = other.ask(other.holding(match, { seatIds: free?.seatIds ?? [] }));
      const wish = hot.holding(match, { quantity: 1 });
      const stuck = hot.ask(wish);
      await sleep(lockedMs);
      await session.query('rollback');
      const unlockedAt = Date.now();
      await Promise.all([holders.stop(), crowd.stop()]);
      const last = await hot.insist(wish);
      const silences = match.sectors.map(({ id }) =>
        scene.history.longestSilence(lockedAt, unlockedAt, (body) => (body as { sector_id?: string }).sector_id === id),
      );
      claim(last.status === 201, `the fan whose row was locked ends with ${last.status} ${last.code}`);
      const slowest = Math.max(...silences);
      claim(slowest < SILENCE_MS, `fans who have nothing to do with it were not served for ${slowest} ms in one of the sectors`);
      const told = ({ status, code, ms }: Answer) => `${status} ${code} after ${Math.round(ms)} ms`;
      return {
        buyers,
        longest_silence_by_sector_ms: silences.join(' '),
        the_seat_by_name: told(await named),
        the_fan: told(await stuck),
        bought: crowd.bought,
        p50_ms: scene.history.latency(0.5),
        p99_ms: scene.history.latency(0.99),
      };
    },
  };
}
