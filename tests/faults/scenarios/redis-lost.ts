import { setTimeout as sleep } from 'node:timers/promises';
import { Buyers } from '../buyers.ts';
import { resendAcknowledged } from '../resend-acknowledged.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly buyers: number;
  readonly flushes: number;
  /** How long Redis is down after the flushes; 0 for not at all. */
  readonly downMs: number;
}

/** Scenario F11: Redis loses all data several times during a sale (FLUSHALL), and then is down for `downMs`. */
export function redisLost({ buyers, flushes, downMs }: Sizes): Scenario {
  return {
    id: 'F11',
    title: `Redis loses all data ${flushes} times${downMs > 0 ? `, then is down for ${downMs / 1000} s` : ''}`,
    needsServers: downMs > 0,
    limitMs: 60_000 + flushes * 2000 + 3 * downMs,
    async run(scene, check) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.openSale(300, 4);
      const load = new Buyers(scene, { match, count: buyers, sectors: 4 });
      await load.waitForPurchases(buyers, 20_000);
      for (let flush = 0; flush < flushes; flush += 1) {
        await scene.redis.flush();
        check(await load.waitForPurchases(2, 20_000), 'no further purchases after Redis was flushed');
      }
      const p50_ms = scene.history.latencyMs(0.5);
      const down = downMs > 0 ? await sellWithoutRedis(scene, load, downMs, check) : {};
      await load.stop();
      await scene.redis.flush();
      const { resent, replayed } = await resendAcknowledged(scene, check);
      return { flushes, bought: load.bought, p50_ms, ...down, resent, replayed };
    },
  };
}

async function sellWithoutRedis(scene: Scene, load: Buyers, downMs: number, check: Check) {
  const { bought } = load;
  await scene.servers?.kill('redis');
  const killedAt = Date.now();
  await sleep(downMs);
  const soldMeanwhile = load.bought - bought;
  check(soldMeanwhile > 0, `nothing was sold while Redis was down for ${downMs} ms`);
  const p50 = scene.history.latencyMs(0.5, ({ status, sentAt }) => status > 0 && status < 300 && sentAt > killedAt);
  await scene.servers?.start('redis');
  check(await load.waitForPurchases(5, 20_000), 'no further purchases after Redis is back');
  return {
    longest_silence_ms: scene.history.longestGapMs(killedAt, Date.now()),
    sold_without_redis: soldMeanwhile,
    p50_without_redis_ms: p50,
  };
}
