import { setTimeout as sleep } from 'node:timers/promises';
import { WellBehavedFans, type QueueScenario } from './queue-scene.ts';

const REQUEST_STARTS = {
  headers: 'GET /api/v1/queue/x/status HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  body: 'POST /api/v1/queue/0190a000-0000-7000-8000-000000000001/join HTTP/1.1\r\nHost: x\r\nX-Mock-User-Id: 0190a000-0000-7000-8000-00000000000a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"',
};

/** Scenario F28: headers and bodies arrive at one byte per second. The service waits 15 s for headers, 30 s for bodies. */
export function slowRequests({ sockets, wellBehaved: fanCount }: { sockets: number; wellBehaved: number }): QueueScenario {
  return {
    id: 'F28',
    title: `${sockets} requests at one byte per second`,
    async run(scene, check) {
      const pod = await scene.start();
      const fans = await WellBehavedFans.connect(scene, pod, await scene.createMatch(pod), fanCount);
      const heldS = { headers: [] as number[], body: [] as number[] };
      const sendSlowly = async (kind: 'headers' | 'body') => {
        const socket = await scene.raw(pod);
        socket.resume();
        const from = Date.now();
        let isOpen = true;
        const closed = new Promise((resolve) => socket.once('close', resolve)).then(() => (isOpen = false));
        socket.write(REQUEST_STARTS[kind]);
        while (isOpen && Date.now() < from + 40_000) {
          await Promise.race([closed, sleep(1000)]);
          if (isOpen) socket.write('x');
        }
        heldS[kind].push((Date.now() - from) / 1000);
      };
      await Promise.all(Array.from({ length: sockets }, (_, at) => sendSlowly(at % 2 === 0 ? 'headers' : 'body')));
      const [headersS, bodyS] = [Math.max(...heldS.headers), Math.max(...heldS.body)];
      check(headersS <= 17, `the service waited ${headersS} s for headers`);
      check(bodyS <= 30, `the service waited ${bodyS} s for a body`);
      check(fans.areConnected, 'a well-behaved fan was disconnected');
      check(fans.p99Ms < 500, `heartbeats of well-behaved fans took ${fans.p99Ms} ms`);
      await fans.stop();
      return { headers_held_s: headersS, body_held_s: bodyS, others_p99_ms: fans.p99Ms };
    },
  };
}
