import { openDatabase } from '#platform/postgres/database';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { verifyDatabase } from '../../apps/monolith/src/cli/verify/verify-database.ts';
import { brokenLines } from '../../bench/instruments/verified.ts';
import { build, ROOT } from '../../tools/local/build.ts';
import { smallScenarios } from './catalogue.ts';
import { audit } from './audit.ts';
import { heldIn, orderedIn } from './fan.ts';
import { performIn } from './scenario.ts';
import { Scene } from './scene.ts';

// The small ones; all of them, and those that kill PostgreSQL and Redis, are `npm run test:faults`.

let scene: Scene;

/** In this process, which has it at hand. */
async function verify({ databaseUrl }: { databaseUrl: string }): Promise<string[]> {
  const dataSource = await openDatabase({ url: databaseUrl, name: 'test', poolSize: 1 });
  try {
    return brokenLines(await verifyDatabase(dataSource));
  } finally {
    await dataSource.destroy();
  }
}

beforeAll(async () => {
  // `npm test` has built it a moment ago; somebody who runs this file alone may never have.
  if (!existsSync(path.join(ROOT, 'dist/apps/monolith/src/main.js'))) await build({ say: () => undefined, serverOnly: true });
  scene = await Scene.open({ verify });
}, 60_000);
afterAll(() => scene.close(), 30_000);

test.each(smallScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: nothing lost, nothing twice',
  async (_title, scenario) => {
    const { id, seconds, figures, faults } = await performIn(scene, scenario);
    const told = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${id} in ${seconds} s: ${told.join(', ')}\n`);
    expect(faults).toEqual([]);
  },
  90_000,
);

test('the control: what was acknowledged and is gone from the tables is missed', async () => {
  const match = await scene.onSale(1);
  const fan = scene.fan();
  const [kept, lost] = [heldIn(await fan.insist(fan.holding(match))), heldIn(await fan.insist(fan.holding(match)))];
  const { orderId } = orderedIn(await fan.insist(fan.checkingOut(kept)));
  await scene.rows('delete from orders where id = $1', [orderId]);
  await scene.rows('delete from reservations where id = $1', [lost.id]);
  const { faults, figures } = await audit(scene);
  expect(figures.lost).toBe(2);
  expect(faults.filter((fault) => fault.startsWith('acknowledged and lost'))).toEqual(
    expect.arrayContaining([expect.stringContaining(orderId), expect.stringContaining(lost.id)]),
  );
  expect(faults.filter((fault) => fault.startsWith('verify: ')).length).toBeGreaterThan(0);
}, 30_000);
