import { setTimeout as sleep } from 'node:timers/promises';
import { QueueConnection, type ConnectionEnd } from '#queue-client/queue-connection';
import type { PositionAnswer } from '#queue-client/queue-messages';
import type { SocketLike } from '#queue-client/transports';
import { WebSocket } from 'ws';
import { ask, type QueueScenario } from './queue-scene.ts';

const WITHIN_MS = 60_000;

/** How long until a stream is opened to a fan who had five sockets on the killed pod. */
async function roomFor(pod: { url: string }, token: string): Promise<number> {
  const since = performance.now();
  for (; performance.now() - since < 30_000; await sleep(100)) {
    const response = await fetch(`${pod.url}/sse/${token}`);
    await response.body?.cancel();
    if (response.status === 200) break;
  }
  return Math.round(performance.now() - since);
}

/** F22: a pod dies with all its sockets; the fans' own client brings them to another one, each to the same place. */
export function podKilled({ sockets }: { sockets: number }): QueueScenario {
  return {
    id: 'F22',
    title: `a pod is killed with ${sockets} sockets`,
    async play(scene, claim) {
      const [one, other] = await Promise.all([scene.start(), scene.start()]);
      let target = one;
      const matchId = await scene.match(one);
      const fans = await scene.crowd(one, matchId, sockets);
      const family = await scene.join(one, matchId);
      const [positions, heardAt, ends]: [number[], number[], ConnectionEnd[]] = [[], [], []];
      const connections = fans.map(({ user, token }, at) => {
        const line = {
          // A load balancer sends who comes back to a pod that lives.
          websocketUrl: `/ws/${token}`,
          sseUrl: `${other.url}/sse/${token}`,
          readPosition: async () => (await (await ask(target, matchId, user, 'GET', 'position')).json()) as PositionAnswer,
        };
        return new QueueConnection(
          line,
          {
            message(message) {
              if (message.type !== 'position_update') return;
              positions[at] = message.position;
              heardAt[at] = performance.now();
            },
            link: () => undefined,
            over: (why) => ends.push(why),
          },
          {
            openWebSocket: (path) =>
              new WebSocket(target.url.replace('http', 'ws') + path, { perMessageDeflate: false }) as unknown as SocketLike,
          },
        );
      });
      const allSince = async (since: number) => {
        const giveUpAt = performance.now() + WITHIN_MS;
        const areIn = () => fans.every((_, at) => (heardAt[at] ?? -1) > since);
        while (!areIn() && performance.now() < giveUpAt) await sleep(20);
        return areIn();
      };
      try {
        for (const [at, connection] of connections.entries()) {
          connection.start();
          if (at % 100 === 99) await sleep(20);
        }
        claim(await allSince(0), 'not everybody was connected before');
        await Promise.all(Array.from({ length: 5 }, () => scene.socket(one, family.token).next('position_update')));
        const diedAt = performance.now();
        target = other;
        await scene.kill(one);
        const room = roomFor(other, family.token);
        claim(await allSince(diedAt), `not everybody was back after ${WITHIN_MS / 1000} s`);
        const back = heardAt.map((at) => at - diedAt).sort((a, b) => a - b);
        const moved = positions.filter((position, at) => position !== at + 1).length;
        claim(moved === 0, `${moved} fans have another place`);
        claim(ends.length === 0, `${ends.length} fans were sent away: ${ends[0]}`);
        const again = await Promise.all(fans.slice(0, 100).map(({ user }) => ask(other, matchId, user, 'POST', 'join')));
        claim(
          again.every(({ status }) => status === 200),
          'who joins again is answered otherwise than 200',
        );
        const at = (share: number) => Math.round(back[Math.floor((back.length - 1) * share)]!);
        const roomMs = await room;
        claim(roomMs < 8000, `five sockets of the killed pod kept a stream out for ${roomMs} ms`);
        return { back_p50_ms: at(0.5), back_p99_ms: at(0.99), back_all_ms: at(1), room_for_a_stream_ms: roomMs };
      } finally {
        for (const connection of connections) connection.stop();
      }
    },
  };
}
