import { setTimeout as sleep } from 'node:timers/promises';
import { ask, CalmFans, type QueueScenario } from './queue-scene.ts';

interface Sizes {
  readonly farMs: number;
  readonly silentMs: number;
}

/** F30: Redis answers 200 ms later, then not at all, then again. Slow is no error; silence is 503 in time, and heals by itself. */
export function redisFar({ farMs, silentMs }: Sizes): QueueScenario {
  return {
    id: 'F30',
    title: `Redis is 200 ms away for ${farMs / 1000} s, then silent for ${silentMs / 1000} s`,
    async play(scene, claim) {
      const pod = await scene.start();
      const matchId = await scene.match(pod);
      const calm = await CalmFans.begin(scene, pod, matchId, 20);
      scene.network.delayMs = 100;
      const far = await joins(farMs);
      claim(far.refused === 0, `${far.refused} of ${far.tried} joins were refused while Redis was far`);
      claim(far.slowestMs < 1500, `a join took ${far.slowestMs} ms while Redis was far`);
      scene.network.delayMs = 0;

      scene.network.silence();
      const silent = await joins(silentMs);
      claim(silent.refused === silent.tried, 'a join was answered with success while Redis was silent');
      claim(silent.slowestMs < 2500, `a join waited ${silent.slowestMs} ms for a silent Redis`);
      const untold = calm.sockets.filter(({ heard }) => !heard.some(({ type }) => type === 'delayed')).length;
      claim(untold === 0, `${untold} sockets were not told of the delay`);
      // What was silenced stays so, as when the server's machine is gone: the service must find out by itself.
      scene.network.restore();
      const healedAt = performance.now();
      let healedMs = -1;
      while (healedMs < 0 && performance.now() < healedAt + 60_000) {
        const { ok } = await ask(pod, matchId, crypto.randomUUID(), 'POST', 'join');
        if (ok) healedMs = performance.now() - healedAt;
        else await sleep(100);
      }
      claim(healedMs >= 0 && healedMs < 10_000, `joining took ${Math.round(healedMs)} ms to heal (-1: a minute was not enough)`);
      const heard = calm.sockets.map((socket) => socket.heard.length);
      await sleep(3000);
      const deaf = calm.sockets.filter(
        (socket, at) => !socket.heard.slice(heard[at]).some(({ type }) => type === 'position_update'),
      );
      const told = calm.sockets.filter(
        ({ heard: all }) =>
          all.findLastIndex(({ type }) => type === 'delayed') < all.findLastIndex(({ type }) => type === 'position_update'),
      );
      claim(
        told.length === calm.sockets.length,
        `${calm.sockets.length - told.length} sockets did not hear their place again (${deaf.length} nothing new)`,
      );
      claim(calm.areConnected, 'a socket was lost');
      await calm.end();
      return { far_slowest_ms: far.slowestMs, silent_slowest_ms: silent.slowestMs, healed_ms: Math.round(healedMs) };

      async function joins(forMs: number) {
        const [until, answers]: [number, { ok: boolean; ms: number }[]] = [Date.now() + forMs, []];
        const asking: Promise<void>[] = [];
        while (Date.now() < until) {
          const from = performance.now();
          asking.push(
            ask(pod, matchId, crypto.randomUUID(), 'POST', 'join').then(
              ({ ok }) => void answers.push({ ok, ms: performance.now() - from }),
            ),
          );
          await sleep(50);
        }
        await Promise.all(asking);
        return {
          tried: answers.length,
          refused: answers.filter(({ ok }) => !ok).length,
          slowestMs: Math.round(Math.max(...answers.map(({ ms }) => ms))),
        };
      }
    },
  };
}
