import { sourcesMisbehave } from './bad-sources.ts';
import type { LoaderScenario } from './loader-scene.ts';
import { loadersKilled } from './loaders-killed.ts';

/** The fault scenarios of the event loader at full size. */
export const loaderScenarios: readonly LoaderScenario[] = [
  loadersKilled({ loaders: 8, sources: 20, events: 40_000, kills: 18, everyMs: 2000, frozenMs: 35_000 }),
  sourcesMisbehave({ healthy: 20, events: 20_000, loaders: 4, limitMs: 60_000, withSlow: true }),
];

/** Small versions of the loader scenarios for `npm test`: together at most 25 s. */
export const smallLoaderScenarios: readonly LoaderScenario[] = [
  loadersKilled({ loaders: 3, sources: 4, events: 6000, kills: 2, everyMs: 1200, frozenMs: 0 }),
  sourcesMisbehave({ healthy: 3, events: 3000, loaders: 2, limitMs: 30_000, withSlow: false }),
];
