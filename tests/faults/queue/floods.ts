import { randomBytes } from 'node:crypto';
import type net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WellBehavedFans, type QueueScenario } from './queue-scene.ts';

/** A WebSocket frame of a client, masked with zeros. */
function frame(head: number, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const { length } = bytes;
  const shortLength = length < 126 ? [0x80 | length] : length < 65_536 ? [0x80 | 126, length >> 8, length & 0xff] : undefined;
  const longLength = Buffer.from([0x80 | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >> shift) & 0xff)]);
  return Buffer.concat([Buffer.from([head]), shortLength ? Buffer.from(shortLength) : longLength, Buffer.alloc(4), bytes]);
}

const repeated = (count: number, bytes: Buffer) => Buffer.concat(Array.from({ length: count }, () => bytes));
const heartbeat = frame(0x81, '{"type":"heartbeat"}');

/** What a hostile socket sends, by name of the attack. The service must close the connection after each attack. */
const attacks: Readonly<Record<string, (socket: net.Socket) => Promise<void> | void>> = {
  'a thousand messages': (socket) => void socket.write(repeated(1000, heartbeat)),
  'a thousand pings': (socket) => void socket.write(repeated(1000, frame(0x89, 'x'.repeat(100)))),
  'a frame of a megabyte': (socket) => void socket.write(frame(0x81, Buffer.alloc(1_000_000, 'x'))),
  'a frame header that announces two megabytes': (socket) =>
    void socket.write(frame(0x81, Buffer.alloc(2_000_000)).subarray(0, 14)),
  'a thousand tiny fragments': (socket) => void socket.write(Buffer.concat([frame(0x01, 'x'), repeated(1000, frame(0x00, ''))])),
  'a compressed frame with invalid data': (socket) => void socket.write(frame(0xc1, randomBytes(100))),
  'random bytes': (socket) => void socket.write(Buffer.concat([Buffer.from([0xf7]), randomBytes(5000)])),
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
  /** Number of hostile sockets for each kind of attack. */
  readonly each: number;
  readonly wellBehaved: number;
  /** Whether to wait until the service closes unfinished handshakes, ten seconds after their start. */
  readonly waitForUnfinishedHandshakes: boolean;
}

/** Scenario F27: attacks of every kind at once. Every hostile socket is closed, memory is released, and other fans are not affected. */
export function floods({ each, wellBehaved: fanCount, waitForUnfinishedHandshakes }: Sizes): QueueScenario {
  return {
    id: 'F27',
    title: `floods, ${each} sockets of each kind`,
    async run(scene, check) {
      const pod = await scene.start();
      const [matchId, quietMatch] = [await scene.createMatch(pod), await scene.createMatch(pod)];
      const fans = await WellBehavedFans.connect(scene, pod, quietMatch, fanCount);
      const before = await scene.memoryOf(pod);
      const from = Date.now();
      let peak = before;
      const memoryTimer = setInterval(() => void scene.memoryOf(pod).then((now) => (peak = Math.max(peak, now))), 250);
      const survivors: string[] = [];
      const attack = async (name: string) => {
        const { token } = await scene.join(pod, matchId);
        const socket = await scene.raw(pod, token, ['Sec-WebSocket-Extensions: permessage-deflate']);
        socket.setNoDelay(true);
        socket.resume();
        const closed = new Promise((resolve) => socket.once('close', resolve));
        await attacks[name]!(socket);
        if (await Promise.race([closed.then(() => false), sleep(10_000, true, { ref: false })])) survivors.push(name);
      };
      const unfinishedHandshakes = Promise.all(Array.from({ length: each * 5 }, () => startHandshake()));
      async function startHandshake(): Promise<boolean> {
        const socket = await scene.raw(pod);
        socket.write('GET /ws/x HTTP/1.1\r\nHost: x\r\nUpgr');
        socket.resume();
        return Promise.race([
          new Promise<boolean>((resolve) => socket.once('close', () => resolve(true))),
          sleep(25_000, false, { ref: false }),
        ]);
      }
      const guessedTokens = Promise.all(
        Array.from({ length: each * 5 }, async () => {
          const { code } = await scene.socket(pod, `qt_${randomBytes(66).toString('base64url')}`).ended;
          check(code === 4501, `a guessed token was answered ${code}`);
        }),
      );
      await Promise.all([
        guessedTokens,
        ...Object.keys(attacks).flatMap((name) => Array.from({ length: each }, () => attack(name))),
      ]);
      const cutAfterMs = Date.now() - from;
      check(survivors.length === 0, `not closed: ${[...new Set(survivors)].join(', ')}`);
      if (waitForUnfinishedHandshakes)
        check((await unfinishedHandshakes).every(Boolean), 'an unfinished handshake was not closed');
      clearInterval(memoryTimer);
      await sleep(1000);
      check(fans.areConnected, 'a well-behaved fan was disconnected');
      check(fans.p99Ms < 1000, `heartbeats of well-behaved fans took ${fans.p99Ms} ms`);
      const after = await scene.memoryOf(pod);
      check(after - before < 100, `memory grew from ${Math.round(before)} to ${Math.round(after)} MB`);
      check((await fetch(`${pod.url}/health/ready`)).status === 200, 'the pod is not ready any more');
      await fans.stop();
      const mb = { before_mb: Math.round(before), peak_mb: Math.round(peak), after_mb: Math.round(after) };
      return { cut_after_ms: cutAfterMs, others_p99_ms: fans.p99Ms, ...mb };
    },
  };
}
