import { randomBytes } from 'node:crypto';
import type net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CalmFans, type QueueScenario } from './queue-scene.ts';

/** A frame of a client, masked with zeros. */
function frame(head: number, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const { length } = bytes;
  const size = length < 126 ? [0x80 | length] : length < 65_536 ? [0x80 | 126, length >> 8, length & 0xff] : undefined;
  const long = Buffer.from([0x80 | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >> shift) & 0xff)]);
  return Buffer.concat([Buffer.from([head]), size ? Buffer.from(size) : long, Buffer.alloc(4), bytes]);
}

const repeated = (count: number, bytes: Buffer) => Buffer.concat(Array.from({ length: count }, () => bytes));
const heartbeat = frame(0x81, '{"type":"heartbeat"}');

/** What a socket sends that is up to no good; each ends its connection. */
const attacks: Readonly<Record<string, (socket: net.Socket) => Promise<void> | void>> = {
  'a thousand messages': (socket) => void socket.write(repeated(1000, heartbeat)),
  'a thousand pings': (socket) => void socket.write(repeated(1000, frame(0x89, 'x'.repeat(100)))),
  'a frame of a megabyte': (socket) => void socket.write(frame(0x81, Buffer.alloc(1_000_000, 'x'))),
  'two megabytes as promised in a header': (socket) => void socket.write(frame(0x81, Buffer.alloc(2_000_000)).subarray(0, 14)),
  'a thousand tiny fragments': (socket) => void socket.write(Buffer.concat([frame(0x01, 'x'), repeated(1000, frame(0x00, ''))])),
  'a bomb, compressed': (socket) => void socket.write(frame(0xc1, randomBytes(100))),
  noise: (socket) => void socket.write(Buffer.concat([Buffer.from([0xf7]), randomBytes(5000)])),
  'frames without a mask': (socket) => void socket.write(Buffer.from([0x81, 0x02, 0x7b, 0x7d])),
  async 'a message byte by byte'(socket) {
    socket.write(frame(0x81, Buffer.alloc(60_000, 'x')).subarray(0, 8));
    for (let byte = 0; byte < 600 && !socket.destroyed; byte += 1) {
      socket.write('x');
      await sleep(1);
    }
  },
};

interface Sizes {
  readonly each: number;
  readonly calm: number;
  /** Handshakes that are never finished are cut after ten seconds. */
  readonly untilHalfOnesAreCut: boolean;
}

/** F27: floods of every kind at once. All who send them are cut, the memory comes back, the others feel nothing. */
export function floods({ each, calm: others, untilHalfOnesAreCut }: Sizes): QueueScenario {
  return {
    id: 'F27',
    title: `floods, ${each} sockets of each kind`,
    async play(scene, claim) {
      const pod = await scene.start();
      const [matchId, calmMatch] = [await scene.match(pod), await scene.match(pod)];
      const calm = await CalmFans.begin(scene, pod, calmMatch, others);
      const before = await scene.memoryOf(pod);
      const from = Date.now();
      let peak = before;
      const watch = setInterval(() => void scene.memoryOf(pod).then((now) => (peak = Math.max(peak, now))), 250);
      const survivors: string[] = [];
      const attack = async (name: string) => {
        const { token } = await scene.join(pod, matchId);
        const socket = await scene.raw(pod, token, ['Sec-WebSocket-Extensions: permessage-deflate']);
        socket.setNoDelay(true);
        socket.resume();
        const gone = new Promise((resolve) => socket.once('close', resolve));
        await attacks[name]!(socket);
        if (await Promise.race([gone.then(() => false), sleep(10_000, true, { ref: false })])) survivors.push(name);
      };
      const half = Promise.all(Array.from({ length: each * 5 }, () => halfHandshake()));
      async function halfHandshake(): Promise<boolean> {
        const socket = await scene.raw(pod);
        socket.write('GET /ws/x HTTP/1.1\r\nHost: x\r\nUpgr');
        socket.resume();
        return Promise.race([
          new Promise<boolean>((resolve) => socket.once('close', () => resolve(true))),
          sleep(25_000, false, { ref: false }),
        ]);
      }
      const guessing = Promise.all(
        Array.from({ length: each * 5 }, async () => {
          const { code } = await scene.socket(pod, `qt_${randomBytes(66).toString('base64url')}`).ended;
          claim(code === 4501, `a guessed token was answered ${code}`);
        }),
      );
      await Promise.all([guessing, ...Object.keys(attacks).flatMap((name) => Array.from({ length: each }, () => attack(name)))]);
      const cutAfterMs = Date.now() - from;
      claim(survivors.length === 0, `not cut: ${[...new Set(survivors)].join(', ')}`);
      if (untilHalfOnesAreCut) claim((await half).every(Boolean), 'half a handshake was not cut');
      clearInterval(watch);
      await sleep(1000);
      claim(calm.areConnected, 'somebody who did nothing was cut off');
      claim(calm.p99Ms < 1000, `heartbeats of the others took ${calm.p99Ms} ms`);
      const after = await scene.memoryOf(pod);
      claim(after - before < 100, `memory grew from ${Math.round(before)} to ${Math.round(after)} MB`);
      claim((await fetch(`${pod.url}/health/ready`)).status === 200, 'it is not ready any more');
      await calm.end();
      const mb = { before_mb: Math.round(before), peak_mb: Math.round(peak), after_mb: Math.round(after) };
      return { cut_after_ms: cutAfterMs, others_p99_ms: calm.p99Ms, ...mb };
    },
  };
}
