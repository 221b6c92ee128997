import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from '../../../tools/local/build.ts';
import { QueueScene, type QueueScenario } from './queue-scene.ts';

/** On a Redis of the scenario's own; what must not be. */
export async function perform(scenario: QueueScenario): Promise<string[]> {
  // `npm test` has built it a moment ago; somebody who runs this alone may never have.
  if (!existsSync(path.join(ROOT, 'dist/apps/queue-service/src/main.js')))
    await build({ say: () => undefined, serverOnly: true });
  const scene = await QueueScene.open();
  const faults: string[] = [];
  try {
    const figures = await scenario.play(scene, (isTrue, otherwise) => void (isTrue || faults.push(otherwise)));
    const told = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${scenario.id} ${scenario.title}: ${told.join(', ')}\n`);
    return faults;
  } finally {
    await scene.close();
  }
}
