import { setTimeout as sleep } from 'node:timers/promises';
import { Buyers } from '../buyers.ts';
import type { Answer } from '../history.ts';
import type { Scenario } from '../scenario.ts';

/** Number of sectors: enough that a process uses both of its writer connections, which commit the hold batches. */
const SECTORS = 8;
/** Longest accepted time without a successful answer to the other fans: a locked row may delay only its own fan. Slow machines need 4 s. */
const MAX_GAP_MS = 4000;

interface Sizes {
  readonly buyers: number;
  readonly lockedMs: number;
  readonly delayMs: number;
}

/**
 * Scenario F31: every message to PostgreSQL takes `delayMs`. Another database session locks the row of one seat, and the row of one fan who
 * requests more seats. Meanwhile all other fans must be served, in every sector.
 */
export function lockedRows({ buyers, lockedMs, delayMs }: Sizes): Scenario {
  return {
    id: 'F31',
    title: `PostgreSQL ${delayMs} ms away, and hot rows locked for ${lockedMs / 1000} s`,
    limitMs: lockedMs + 90_000,
    async run(scene, check) {
      const proxy = await scene.proxyTo(scene.databaseUrl);
      await scene.start({}, { databaseUrl: proxy.url });
      const match = await scene.openSale(200, SECTORS);
      const [lockedFan, otherFan] = [scene.fan(), scene.fan()];
      check((await lockedFan.hold(match, { quantity: 1 })) !== undefined, 'the fan whose row is to be locked got no first seat');
      const released = await otherFan.hold(match, { quantity: 1 });
      await otherFan.releaseReservation(released?.id ?? '');
      proxy.delayMs = delayMs / 2;
      const holders = new Buyers(scene, { match, count: buyers, sectors: SECTORS, staysInSector: true, holdsOnlyEvery: 1 });
      const load = new Buyers(scene, { match, count: Math.ceil(buyers / 4), sectors: SECTORS });
      await load.waitForPurchases(3, 60_000);
      const session = await scene.session();
      await session.query('begin');
      await session.query('select 1 from seats where id = any($1) for update', [released?.seatIds]);
      await session.query('select 1 from fan_seats where user_id = $1 for update', [lockedFan.userId]);
      const lockedAt = Date.now();
      const seatRequest = otherFan.sendOnce(otherFan.holdRequest(match, { seatIds: released?.seatIds ?? [] }));
      const fanRequest = lockedFan.holdRequest(match, { quantity: 1 });
      const firstAnswer = lockedFan.sendOnce(fanRequest);
      await sleep(lockedMs);
      await session.query('rollback');
      const unlockedAt = Date.now();
      await Promise.all([holders.stop(), load.stop()]);
      const last = await lockedFan.sendUntilAnswered(fanRequest);
      const gapsMs = match.sectors.map(({ id }) =>
        scene.history.longestGapMs(lockedAt, unlockedAt, (body) => (body as { sector_id?: string }).sector_id === id),
      );
      check(last.status === 201, `the last answer to the fan whose row was locked is ${last.status} ${last.code}`);
      const longestGap = Math.max(...gapsMs);
      check(longestGap < MAX_GAP_MS, `other fans were not served for ${longestGap} ms in one sector`);
      const describeAnswer = ({ status, code, ms }: Answer) => `${status} ${code} after ${Math.round(ms)} ms`;
      return {
        buyers,
        longest_silence_by_sector_ms: gapsMs.join(' '),
        the_seat_by_name: describeAnswer(await seatRequest),
        the_fan: describeAnswer(await firstAnswer),
        bought: load.bought,
        p50_ms: scene.history.latencyMs(0.5),
        p99_ms: scene.history.latencyMs(0.99),
      };
    },
  };
}
