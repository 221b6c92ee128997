import { setTimeout as sleep } from 'node:timers/promises';
import { callQueue, WellBehavedFans, type QueueScenario } from './queue-scene.ts';

interface Sizes {
  readonly slowMs: number;
  readonly silentMs: number;
}

/**
 * Scenario F30: Redis answers 200 ms late, then not at all, then normally. While Redis is slow no join is refused. While Redis is silent
 * joins are refused within 2.5 s. When Redis answers again, the queue service recovers by itself within 10 s.
 */
export function redisSlow({ slowMs, silentMs }: Sizes): QueueScenario {
  return {
    id: 'F30',
    title: `Redis answers 200 ms later for ${slowMs / 1000} s, then silent for ${silentMs / 1000} s`,
    async run(scene, check) {
      const pod = await scene.start();
      const matchId = await scene.createMatch(pod);
      const fans = await WellBehavedFans.connect(scene, pod, matchId, 20);
      scene.network.delayMs = 100;
      const slow = await sendJoins(slowMs);
      check(slow.refused === 0, `${slow.refused} of ${slow.sent} joins were refused while Redis was slow`);
      check(slow.slowestMs < 1500, `a join took ${slow.slowestMs} ms while Redis was slow`);
      scene.network.delayMs = 0;

      scene.network.silence();
      const silent = await sendJoins(silentMs);
      check(silent.refused === silent.sent, 'a join was answered with success while Redis was silent');
      check(silent.slowestMs < 2500, `a join waited ${silent.slowestMs} ms for a silent Redis`);
      const uninformed = fans.sockets.filter(({ heard }) => !heard.some(({ type }) => type === 'delayed')).length;
      check(uninformed === 0, `${uninformed} sockets got no message about the delay`);
      // Old connections stay silent, as after the loss of a machine: the service must notice the silence and reconnect by itself.
      scene.network.restore();
      const restoredAt = performance.now();
      let recoveredMs = -1;
      while (recoveredMs < 0 && performance.now() < restoredAt + 60_000) {
        const { ok } = await callQueue(pod, matchId, crypto.randomUUID(), 'POST', 'join');
        if (ok) recoveredMs = performance.now() - restoredAt;
        else await sleep(100);
      }
      check(
        recoveredMs >= 0 && recoveredMs < 10_000,
        `joins failed for another ${Math.round(recoveredMs)} ms (-1: over a minute)`,
      );
      const messageCounts = fans.sockets.map((socket) => socket.heard.length);
      await sleep(3000);
      const withoutUpdate = fans.sockets.filter(
        (socket, at) => !socket.heard.slice(messageCounts[at]).some(({ type }) => type === 'position_update'),
      );
      const withPositionAfterDelay = fans.sockets.filter(
        ({ heard: all }) =>
          all.findLastIndex(({ type }) => type === 'delayed') < all.findLastIndex(({ type }) => type === 'position_update'),
      );
      check(
        withPositionAfterDelay.length === fans.sockets.length,
        `${fans.sockets.length - withPositionAfterDelay.length} sockets got no position after the delay (${withoutUpdate.length} no update)`,
      );
      check(fans.areConnected, 'a well-behaved fan was disconnected');
      await fans.stop();
      return { far_slowest_ms: slow.slowestMs, silent_slowest_ms: silent.slowestMs, healed_ms: Math.round(recoveredMs) };

      /** Sends a join every 50 ms. */
      async function sendJoins(forMs: number) {
        const [until, answers]: [number, { ok: boolean; ms: number }[]] = [Date.now() + forMs, []];
        const pending: Promise<void>[] = [];
        while (Date.now() < until) {
          const from = performance.now();
          pending.push(
            callQueue(pod, matchId, crypto.randomUUID(), 'POST', 'join').then(
              ({ ok }) => void answers.push({ ok, ms: performance.now() - from }),
            ),
          );
          await sleep(50);
        }
        await Promise.all(pending);
        return {
          sent: answers.length,
          refused: answers.filter(({ ok }) => !ok).length,
          slowestMs: Math.round(Math.max(...answers.map(({ ms }) => ms))),
        };
      }
    },
  };
}
