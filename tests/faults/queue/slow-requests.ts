import { setTimeout as sleep } from 'node:timers/promises';
import { CalmFans, type QueueScenario } from './queue-scene.ts';

const BEGINNINGS = {
  headers: 'GET /api/v1/queue/x/status HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  body: 'POST /api/v1/queue/0190a000-0000-7000-8000-000000000001/join HTTP/1.1\r\nHost: x\r\nX-Mock-User-Id: 0190a000-0000-7000-8000-00000000000a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"',
};

/** F28: headers and bodies at a byte a second. They are cut within 15 and 30 seconds, and the others feel nothing. */
export function slowRequests({ sockets, calm: others }: { sockets: number; calm: number }): QueueScenario {
  return {
    id: 'F28',
    title: `${sockets} requests at a byte a second`,
    async play(scene, claim) {
      const pod = await scene.start();
      const calm = await CalmFans.begin(scene, pod, await scene.match(pod), others);
      const heldS = { headers: [] as number[], body: [] as number[] };
      const drip = async (kind: 'headers' | 'body') => {
        const socket = await scene.raw(pod);
        socket.resume();
        const from = Date.now();
        let isOpen = true;
        const gone = new Promise((resolve) => socket.once('close', resolve)).then(() => (isOpen = false));
        socket.write(BEGINNINGS[kind]);
        while (isOpen && Date.now() < from + 40_000) {
          await Promise.race([gone, sleep(1000)]);
          if (isOpen) socket.write('x');
        }
        heldS[kind].push((Date.now() - from) / 1000);
      };
      await Promise.all(Array.from({ length: sockets }, (_, at) => drip(at % 2 === 0 ? 'headers' : 'body')));
      const [headersS, bodyS] = [Math.max(...heldS.headers), Math.max(...heldS.body)];
      claim(headersS <= 17, `headers were waited for ${headersS} s`);
      claim(bodyS <= 30, `a body was waited for ${bodyS} s`);
      claim(calm.areConnected, 'somebody who did nothing was cut off');
      claim(calm.p99Ms < 500, `heartbeats of the others took ${calm.p99Ms} ms`);
      await calm.end();
      return { headers_held_s: headersS, body_held_s: bodyS, others_p99_ms: calm.p99Ms };
    },
  };
}
