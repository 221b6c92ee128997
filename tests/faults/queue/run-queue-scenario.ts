import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from '../../../tools/local/build.ts';
import { QueueScene, type QueueScenario } from './queue-scene.ts';

/** Runs a waiting-room scenario with its own Redis. Returns the broken guarantees. */
export async function runQueueScenario(scenario: QueueScenario): Promise<string[]> {
  // Build the services if one test file is run alone. `npm test` has built them before.
  if (!existsSync(path.join(ROOT, 'dist/apps/queue-service/src/main.js')))
    await build({ say: () => undefined, serverOnly: true });
  const scene = await QueueScene.open();
  const faults: string[] = [];
  try {
    const figures = await scenario.run(scene, (isTrue, fault) => void (isTrue || faults.push(fault)));
    const figureTexts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${scenario.id} ${scenario.title}: ${figureTexts.join(', ')}\n`);
    return faults;
  } finally {
    await scene.close();
  }
}
