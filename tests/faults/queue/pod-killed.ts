import { setTimeout as sleep } from 'node:timers/promises';
import { QueueConnection, type ConnectionEnd } from '#queue-client/queue-connection';
import type { PositionAnswer } from '#queue-client/queue-messages';
import type { SocketLike } from '#queue-client/transports';
import { WebSocket } from 'ws';
import { callQueue, type QueueScenario } from './queue-scene.ts';

const WITHIN_MS = 60_000;

/** Milliseconds until a fan who had five sockets on the killed pod can open a stream on another pod. */
async function timeUntilStreamOpens(pod: { url: string }, token: string): Promise<number> {
  const since = performance.now();
  for (; performance.now() - since < 30_000; await sleep(100)) {
    const response = await fetch(`${pod.url}/sse/${token}`);
    await response.body?.cancel();
    if (response.status === 200) break;
  }
  return Math.round(performance.now() - since);
}

/** Scenario F22: a pod is killed with all its sockets. The queue client reconnects each fan to another pod, with the same position. */
export function podKilled({ sockets }: { sockets: number }): QueueScenario {
  return {
    id: 'F22',
    title: `a pod is killed with ${sockets} sockets`,
    async run(scene, check) {
      const [killedPod, otherPod] = await Promise.all([scene.start(), scene.start()]);
      let target = killedPod;
      const matchId = await scene.createMatch(killedPod);
      const fans = await scene.joinMany(killedPod, matchId, sockets);
      const fanWithFiveSockets = await scene.join(killedPod, matchId);
      const [positions, receivedAtMs, ends]: [number[], number[], ConnectionEnd[]] = [[], [], []];
      const connections = fans.map(({ user, token }, at) => {
        const line = {
          // A path without a host: openWebSocket adds the pod, like a load balancer that sends reconnecting fans to a living pod.
          websocketUrl: `/ws/${token}`,
          sseUrl: `${otherPod.url}/sse/${token}`,
          readPosition: async () => (await (await callQueue(target, matchId, user, 'GET', 'position')).json()) as PositionAnswer,
        };
        return new QueueConnection(
          line,
          {
            message(message) {
              if (message.type !== 'position_update') return;
              positions[at] = message.position;
              receivedAtMs[at] = performance.now();
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
        const allReceived = () => fans.every((_, at) => (receivedAtMs[at] ?? -1) > since);
        while (!allReceived() && performance.now() < giveUpAt) await sleep(20);
        return allReceived();
      };
      try {
        for (const [at, connection] of connections.entries()) {
          connection.start();
          if (at % 100 === 99) await sleep(20);
        }
        check(await allSince(0), 'not every fan was connected before the kill');
        await Promise.all(
          Array.from({ length: 5 }, () => scene.socket(killedPod, fanWithFiveSockets.token).next('position_update')),
        );
        const diedAt = performance.now();
        target = otherPod;
        await scene.kill(killedPod);
        const streamOpening = timeUntilStreamOpens(otherPod, fanWithFiveSockets.token);
        check(await allSince(diedAt), `not every fan was connected again after ${WITHIN_MS / 1000} s`);
        const reconnectMs = receivedAtMs.map((at) => at - diedAt).sort((a, b) => a - b);
        const moved = positions.filter((position, at) => position !== at + 1).length;
        check(moved === 0, `${moved} fans have another position`);
        check(ends.length === 0, `${ends.length} fans were refused for good: ${ends[0]}`);
        const joinedAgain = await Promise.all(
          fans.slice(0, 100).map(({ user }) => callQueue(otherPod, matchId, user, 'POST', 'join')),
        );
        check(
          joinedAgain.every(({ status }) => status === 200),
          'a second join was not answered with 200',
        );
        const quantile = (share: number) => Math.round(reconnectMs[Math.floor((reconnectMs.length - 1) * share)]!);
        const streamOpenedMs = await streamOpening;
        check(streamOpenedMs < 8000, `five sockets of the killed pod kept a stream out for ${streamOpenedMs} ms`);
        return {
          back_p50_ms: quantile(0.5),
          back_p99_ms: quantile(0.99),
          back_all_ms: quantile(1),
          room_for_a_stream_ms: streamOpenedMs,
        };
      } finally {
        for (const connection of connections) connection.stop();
      }
    },
  };
}
