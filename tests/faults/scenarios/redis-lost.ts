import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../crowd.ts';
import { resend } from '../resend.ts';
import type { Claim, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly buyers: number;
  readonly flushes: number;
  /** 0: Redis only forgets. */
  readonly downMs: number;
}

/** F11: Redis forgets everything in the middle of the sale, again and again, then is gone for a while. */
export function redisLost({ buyers, flushes, downMs }: Sizes): Scenario {
  return {
    id: 'F11',
    title: `Redis forgets everything ${flushes} times${downMs > 0 ? `, then is gone for ${downMs / 1000} s` : ''}`,
    needsServers: downMs > 0,
    limitMs: 60_000 + flushes * 2000 + 3 * downMs,
    async play(scene, claim) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.onSale(300, 4);
      const crowd = new Crowd(scene, { match, buyers, sectors: 4 });
      await crowd.sells(buyers, 20_000);
      for (let flush = 0; flush < flushes; flush += 1) {
        await scene.redis.flush();
        claim(await crowd.sells(2, 20_000), 'the sale does not go on after Redis has forgotten');
      }
      const p50_ms = scene.history.latency(0.5);
      const down = downMs > 0 ? await whileDown(scene, crowd, downMs, claim) : {};
      await crowd.stop();
      await scene.redis.flush();
      const { resent, replayed } = await resend(scene, claim);
      return { flushes, bought: crowd.bought, p50_ms, ...down, resent, replayed };
    },
  };
}

async function whileDown(scene: Scene, crowd: Crowd, downMs: number, claim: Claim) {
  const { bought } = crowd;
  await scene.servers?.kill('redis');
  const moment = Date.now();
  await sleep(downMs);
  const soldMeanwhile = crowd.bought - bought;
  claim(soldMeanwhile > 0, `nothing was sold while Redis was gone for ${downMs} ms`);
  const p50 = scene.history.latency(0.5, ({ status, sentAt }) => status > 0 && status < 300 && sentAt > moment);
  await scene.servers?.start('redis');
  claim(await crowd.sells(5, 20_000), 'the sale does not go on after Redis is back');
  return {
    longest_silence_ms: scene.history.longestSilence(moment, Date.now()),
    sold_without_redis: soldMeanwhile,
    p50_without_redis_ms: p50,
  };
}
