import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WellBehavedFans, type Figures, type QueueScenario } from './queue-scene.ts';

/** Sectors in each message, which make it about 20 KB. The kernel buffers a few megabytes for each socket that does not read. */
const SECTORS = 200;

interface Sizes {
  readonly slow: number;
  readonly wellBehaved: number;
  readonly rounds: number;
  /** Whether to wait two minutes, until the service closes the slow sockets because they send no heartbeat. */
  readonly waitForCut: boolean;
}

/** Scenario F26: sockets stop reading while updates are sent. Their buffers in the service stay small; other fans are not affected. */
export function slowReaders({ slow, wellBehaved: fanCount, rounds, waitForCut }: Sizes): QueueScenario {
  return {
    id: 'F26',
    title: `${slow} sockets stop reading`,
    async run(scene, check) {
      const pod = await scene.start();
      const [matchId, quietMatch] = [await scene.createMatch(pod), await scene.createMatch(pod)];
      const fans = await WellBehavedFans.connect(scene, pod, quietMatch, fanCount);
      for (const { token } of await scene.joinMany(pod, matchId, slow)) (await scene.raw(pod, token)).pause();
      const remaining_sectors = Array.from({ length: SECTORS }, (_, at) => ({
        sector_id: randomUUID(),
        name: `Sector ${at} `.padEnd(40, 'x'),
        available: at,
      }));
      const before = await scene.memoryOf(pod);
      let peak = before;
      for (let round = 0; round < rounds; round += 1) {
        // Each change of the sector list is sent to all sockets at once.
        await scene.control(pod, matchId, { remaining_sectors: remaining_sectors.slice(round % 2) }, 'sold-out');
        await sleep(20);
        if (round % 20 === 0) peak = Math.max(peak, await scene.memoryOf(pod));
      }
      peak = Math.max(peak, await scene.memoryOf(pod));
      // The memory may grow by 64 KB and one message for each slow socket, and by 120 MB for the service itself.
      const allowedMb = slow * 0.11 + 120;
      check(peak - before < allowedMb, `memory grew by ${Math.round(peak - before)} MB, more than ${Math.round(allowedMb)}`);
      check(fans.areConnected, 'a well-behaved fan was disconnected');
      check(fans.p99Ms < 500, `heartbeats of well-behaved fans took ${fans.p99Ms} ms`);
      let cutAfterS = -1;
      const from = Date.now();
      while (waitForCut && cutAfterS < 0 && Date.now() < from + 160_000) {
        await sleep(1000);
        const page = await (await fetch(`${pod.url}/metrics`)).text();
        if (Number(/^websocket_connections (\d+)$/m.exec(page)?.[1]) === fanCount) cutAfterS = (Date.now() - from) / 1000;
      }
      check(!waitForCut || cutAfterS > 0, 'the slow sockets were not closed');
      await fans.stop();
      const cut: Figures = waitForCut ? { cut_after_s: Math.round(cutAfterS) } : {};
      return { before_mb: Math.round(before), peak_mb: Math.round(peak), others_p99_ms: fans.p99Ms, ...cut };
    },
  };
}
