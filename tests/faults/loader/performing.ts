import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from '../../../tools/local/build.ts';
import type { Figures, LoaderScenario } from './loader-scene.ts';

/** On a database and a Redis of the scenario's own; what must not be, and the figures. */
export async function perform(scenario: LoaderScenario): Promise<{ faults: string[]; figures: Figures }> {
  // `npm test` has built it a moment ago; somebody who runs this alone may never have.
  if (!existsSync(path.join(ROOT, 'dist/apps/monolith/src/cli/run-loader.js')))
    await build({ say: () => undefined, serverOnly: true });
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const faults: string[] = [];
  try {
    const claim = (isTrue: boolean, otherwise: string): void => void (isTrue || faults.push(otherwise));
    const figures = await scenario.play({ databaseUrl: database.url, redisUrl: redis.url }, claim);
    const told = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${scenario.id} ${scenario.title}: ${told.join(', ')}\n`);
    return { faults, figures };
  } finally {
    await redis.flush();
    await Promise.all([database.drop(), redis.close()]);
  }
}
