import { setTimeout as sleep } from 'node:timers/promises';
import { Buyers } from '../buyers.ts';
import type { Scenario } from '../scenario.ts';
import { resendAcknowledged } from '../resend-acknowledged.ts';

interface Sizes {
  readonly buyers: number;
  readonly kills: number;
  readonly runMs: number;
  /** Whether to flush Redis after each kill. Otherwise the interrupted requests get IDEMPOTENCY_KEY_IN_USE for 30 s. */
  readonly flushesRedis: boolean;
}

/** Scenario K01: two replicas sell, and one is killed under load. Its fans repeat their requests, with the same keys, at the other. */
export function replicaKilled({ buyers, kills, runMs, flushesRedis }: Sizes): Scenario {
  return {
    id: 'K01',
    title: `kill -9 of one of two replicas under load, ${kills} times`,
    limitMs: 60_000 + kills * (runMs + 40_000),
    async run(scene, check) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.openSale(200, 4);
      const load = new Buyers(scene, { match, count: buyers, sectors: 4 });
      const gapsMs: number[] = [];
      await load.waitForPurchases(buyers, 20_000);
      for (let kill = 1; kill <= kills; kill += 1) {
        await sleep(runMs * (0.5 + Math.random()));
        const killedAt = Date.now();
        await scene.replicas.find(({ isAlive }) => isAlive)?.kill();
        if (flushesRedis) await scene.redis.flush();
        check(await load.waitForPurchases(buyers, 20_000), 'no further purchases on the other replica');
        gapsMs.push(scene.history.longestGapMs(killedAt, Date.now()));
        if (kill < kills) await scene.start();
      }
      await load.stop();
      const { resent, replayed } = await resendAcknowledged(scene, check);
      return {
        kills,
        bought: load.bought,
        longest_silence_ms: Math.max(...gapsMs),
        resent,
        replayed,
      };
    },
  };
}
