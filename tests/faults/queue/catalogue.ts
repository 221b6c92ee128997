import { floods } from './floods.ts';
import { podKilled } from './pod-killed.ts';
import type { QueueScenario } from './queue-scene.ts';
import { redisFar } from './redis-far.ts';
import { slowReaders } from './slow-readers.ts';
import { slowRequests } from './slow-requests.ts';

export const queueScenarios: readonly QueueScenario[] = [
  podKilled({ sockets: 5000 }),
  slowReaders({ slow: 200, calm: 50, rounds: 400, untilCut: true }),
  floods({ each: 50, calm: 50, untilHalfOnesAreCut: true }),
  slowRequests({ sockets: 2000, calm: 50 }),
  redisFar({ farMs: 20_000, silentMs: 60_000 }),
];

/** The same, small: together some 20 s, for `npm test`. Who sends slowly is waited for too long for that. */
export const smallQueueScenarios: readonly QueueScenario[] = [
  podKilled({ sockets: 200 }),
  slowReaders({ slow: 10, calm: 10, rounds: 300, untilCut: false }),
  floods({ each: 4, calm: 10, untilHalfOnesAreCut: false }),
  redisFar({ farMs: 1500, silentMs: 3000 }),
];
