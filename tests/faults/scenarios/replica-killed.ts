import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../crowd.ts';
import type { Scenario } from '../scenario.ts';
import { resend } from '../resend.ts';

interface Sizes {
  readonly buyers: number;
  readonly kills: number;
  readonly runMs: number;
  /** Whoever was being served is told for 30 s that their key is in use, unless Redis is lost, too. */
  readonly forgets: boolean;
}

/** Two replicas sell; one is killed with its hands full. Its fans go to the other, with the keys they have. */
export function replicaKilled({ buyers, kills, runMs, forgets }: Sizes): Scenario {
  return {
    id: 'K01',
    title: `kill -9 of one of two replicas under load, ${kills} times`,
    limitMs: 60_000 + kills * (runMs + 40_000),
    async play(scene, claim) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.onSale(200, 4);
      const crowd = new Crowd(scene, { match, buyers, sectors: 4 });
      const silences: number[] = [];
      await crowd.sells(buyers, 20_000);
      for (let kill = 1; kill <= kills; kill += 1) {
        await sleep(runMs * (0.5 + Math.random()));
        const moment = Date.now();
        await scene.replicas.find(({ isAlive }) => isAlive)?.kill();
        if (forgets) await scene.redis.flush();
        claim(await crowd.sells(buyers, 20_000), 'the other replica does not go on selling');
        silences.push(scene.history.longestSilence(moment, Date.now()));
        if (kill < kills) await scene.start();
      }
      await crowd.stop();
      const again = await resend(scene, claim);
      return {
        kills,
        bought: crowd.bought,
        longest_silence_ms: Math.max(...silences),
        resent: again.resent,
        replayed: again.replayed,
      };
    },
  };
}
