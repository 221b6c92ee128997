import type { Scenario } from './scenario.ts';
import { actsKilled } from './scenarios/acts-killed.ts';
import { checkoutKilled } from './scenarios/checkout-killed.ts';
import { commitUnanswered } from './scenarios/commit-unanswered.ts';
import { contentionStorm } from './scenarios/contention-storm.ts';
import { databaseReplicaLost } from './scenarios/database-replica-lost.ts';
import { databaseKilled } from './scenarios/database-killed.ts';
import { invitationsKilled } from './scenarios/invitations-killed.ts';
import { lockedRows } from './scenarios/locked-rows.ts';
import { quotasKilled } from './scenarios/quotas-killed.ts';
import { redisLost } from './scenarios/redis-lost.ts';
import { replicaFrozen } from './scenarios/replica-frozen.ts';
import { replicaKilled } from './scenarios/replica-killed.ts';
import { sameKeyStuck } from './scenarios/same-key-stuck.ts';
import { standbyPromoted } from './scenarios/standby-promoted.ts';
import { turnsKept } from './scenarios/turns-kept.ts';
import { turnsMissed } from './scenarios/turns-missed.ts';

/** All fault scenarios at full size, as `npm run test:faults` runs them. */
export const scenarios: readonly Scenario[] = [
  checkoutKilled(1),
  sameKeyStuck({ lockedMs: 45_000, deletesRedisLock: false }),
  commitUnanswered(200),
  turnsMissed({ fans: 200, cuts: 3, downMs: 10_000 }),
  databaseKilled({ buyers: 12 }),
  standbyPromoted({ buyers: 12, synchronous: true }),
  standbyPromoted({ buyers: 12, synchronous: false }),
  redisLost({ buyers: 12, flushes: 20, downMs: 60_000 }),
  lockedRows({ buyers: 16, lockedMs: 45_000, delayMs: 50 }),
  contentionStorm({ rounds: 6 }),
  replicaKilled({ buyers: 12, kills: 3, runMs: 2000, flushesRedis: false }),
  replicaFrozen({ rounds: 2, waitingFans: 12 }),
  turnsKept({ fans: 120, wipes: 20, windows: 30 }),
  turnsKept({ fans: 120, wipes: 20, windows: 30, cluster: true }),
  databaseReplicaLost({ buyers: 8 }),
  quotasKilled({ moves: 100, claims: 100, kills: 8, flushesRedis: false }),
  invitationsKilled({ people: 500, fromStep: 0, reminds: true }),
  actsKilled({ fromStep: 0 }),
];

/** Small versions of the scenarios for `npm test`: together at most 25 s. They share PostgreSQL and Redis, so none kills a server. */
export const smallScenarios: readonly Scenario[] = [
  commitUnanswered(20),
  sameKeyStuck({ lockedMs: 3500, deletesRedisLock: true }),
  redisLost({ buyers: 6, flushes: 5, downMs: 0 }),
  quotasKilled({ moves: 10, claims: 10, kills: 1, flushesRedis: true }),
  invitationsKilled({ people: 100, fromStep: 4, reminds: false }),
  actsKilled({ fromStep: 3 }),
  replicaKilled({ buyers: 6, kills: 1, runMs: 300, flushesRedis: true }),
  turnsKept({ fans: 24, wipes: 3, windows: 8 }),
];
