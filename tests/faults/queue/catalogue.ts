import { floods } from './floods.ts';
import { podKilled } from './pod-killed.ts';
import type { QueueScenario } from './queue-scene.ts';
import { redisSlow } from './redis-slow.ts';
import { slowReaders } from './slow-readers.ts';
import { slowRequests } from './slow-requests.ts';

/** The fault scenarios of the waiting room at full size. */
export const queueScenarios: readonly QueueScenario[] = [
  podKilled({ sockets: 5000 }),
  slowReaders({ slow: 200, wellBehaved: 50, rounds: 400, waitForCut: true }),
  floods({ each: 50, wellBehaved: 50, waitForUnfinishedHandshakes: true }),
  slowRequests({ sockets: 2000, wellBehaved: 50 }),
  redisSlow({ slowMs: 20_000, silentMs: 60_000 }),
];

/** Small versions of the waiting-room scenarios for `npm test`: together about 20 s. slowRequests is omitted, its timeouts are too long. */
export const smallQueueScenarios: readonly QueueScenario[] = [
  podKilled({ sockets: 200 }),
  slowReaders({ slow: 10, wellBehaved: 10, rounds: 300, waitForCut: false }),
  floods({ each: 4, wellBehaved: 10, waitForUnfinishedHandshakes: false }),
  redisSlow({ slowMs: 1500, silentMs: 3000 }),
];
