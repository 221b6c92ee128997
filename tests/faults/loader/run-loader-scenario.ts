import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from '../../../tools/local/build.ts';
import type { Figures, LoaderScenario } from './loader-scene.ts';

/** Runs a loader scenario with its own database and Redis. Returns the broken guarantees and the figures. */
export async function runLoaderScenario(scenario: LoaderScenario): Promise<{ faults: string[]; figures: Figures }> {
  // Build the services if one test file is run alone. `npm test` has built them before.
  if (!existsSync(path.join(ROOT, 'dist/apps/monolith/src/cli/run-loader.js')))
    await build({ say: () => undefined, serverOnly: true });
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const faults: string[] = [];
  try {
    const check = (isTrue: boolean, fault: string): void => void (isTrue || faults.push(fault));
    const figures = await scenario.run({ databaseUrl: database.url, redisUrl: redis.url }, check);
    const figureTexts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${scenario.id} ${scenario.title}: ${figureTexts.join(', ')}\n`);
    return { faults, figures };
  } finally {
    await redis.flush();
    await Promise.all([database.close(), redis.close()]);
  }
}
