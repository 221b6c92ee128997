import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CalmFans, type Figures, type QueueScenario } from './queue-scene.ts';

/** Two hundred sectors are a message of some 20 KB; what the kernel takes for a reader is a few megabytes. */
const SECTORS = 200;

interface Sizes {
  readonly slow: number;
  readonly calm: number;
  readonly rounds: number;
  /** Wait until they are cut for their silence, two minutes later. */
  readonly untilCut: boolean;
}

/** F26: sockets that stop reading while updates flow. What waits for them stays small, and the others feel nothing. */
export function slowReaders({ slow, calm: others, rounds, untilCut }: Sizes): QueueScenario {
  return {
    id: 'F26',
    title: `${slow} sockets stop reading`,
    async play(scene, claim) {
      const pod = await scene.start();
      const [matchId, calmMatch] = [await scene.match(pod), await scene.match(pod)];
      const calm = await CalmFans.begin(scene, pod, calmMatch, others);
      for (const { token } of await scene.crowd(pod, matchId, slow)) (await scene.raw(pod, token)).pause();
      const remaining_sectors = Array.from({ length: SECTORS }, (_, at) => ({
        sector_id: randomUUID(),
        name: `Sector ${at} `.padEnd(40, 'x'),
        available: at,
      }));
      const before = await scene.memoryOf(pod);
      let peak = before;
      for (let round = 0; round < rounds; round += 1) {
        // A sector more or less is told to everybody at once.
        await scene.control(pod, matchId, { remaining_sectors: remaining_sectors.slice(round % 2) }, 'sold-out');
        await sleep(20);
        if (round % 20 === 0) peak = Math.max(peak, await scene.memoryOf(pod));
      }
      peak = Math.max(peak, await scene.memoryOf(pod));
      // 64 KB and one message each, and what the service itself takes to work.
      const allowed = slow * 0.11 + 120;
      claim(peak - before < allowed, `memory grew by ${Math.round(peak - before)} MB, ${Math.round(allowed)} are due`);
      claim(calm.areConnected, 'somebody who reads was cut off');
      claim(calm.p99Ms < 500, `heartbeats of the others took ${calm.p99Ms} ms`);
      let cutAfterS = -1;
      const from = Date.now();
      while (untilCut && cutAfterS < 0 && Date.now() < from + 160_000) {
        await sleep(1000);
        const page = await (await fetch(`${pod.url}/metrics`)).text();
        if (Number(/^websocket_connections (\d+)$/m.exec(page)?.[1]) === others) cutAfterS = (Date.now() - from) / 1000;
      }
      claim(!untilCut || cutAfterS > 0, 'they were not cut off');
      await calm.end();
      const cut: Figures = untilCut ? { cut_after_s: Math.round(cutAfterS) } : {};
      return { before_mb: Math.round(before), peak_mb: Math.round(peak), others_p99_ms: calm.p99Ms, ...cut };
    },
  };
}
