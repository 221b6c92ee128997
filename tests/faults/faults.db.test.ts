import { openDatabase } from '#platform/postgres/database';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { verifyDatabase } from '../../apps/monolith/src/cli/verify/verify-database.ts';
import { describeBrokenInvariants } from '../../bench/instruments/verified.ts';
import { build, ROOT } from '../../tools/local/build.ts';
import { smallScenarios } from './catalogue.ts';
import { audit } from './audit.ts';
import { readHold, readOrder } from './fan.ts';
import { runScenarioIn } from './scenario.ts';
import { Scene } from './scene.ts';

// The small fault scenarios. `npm run test:faults` runs all scenarios at full size, also those that kill PostgreSQL and Redis.

let scene: Scene;

/** Runs `verify` in this process, which is faster than the CLI command. */
async function verify({ databaseUrl }: { databaseUrl: string }): Promise<string[]> {
  const dataSource = await openDatabase({ url: databaseUrl, name: 'test', poolSize: 1 });
  try {
    return describeBrokenInvariants(await verifyDatabase(dataSource));
  } finally {
    await dataSource.destroy();
  }
}

beforeAll(async () => {
  // Build the services if this file is run alone. `npm test` has built them before.
  if (!existsSync(path.join(ROOT, 'dist/apps/monolith/src/main.js'))) await build({ say: () => undefined, serverOnly: true });
  scene = await Scene.open({ verify });
}, 60_000);
afterAll(() => scene.close(), 30_000);

test.each(smallScenarios.map((scenario) => [scenario.title, scenario] as const))(
  'fault scenario "%s": no acknowledged request is lost, and no request has its effect twice',
  async (_title, scenario) => {
    const { id, seconds, figures, faults } = await runScenarioIn(scene, scenario);
    const figureTexts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`  ${id} in ${seconds} s: ${figureTexts.join(', ')}\n`);
    expect(faults).toEqual([]);
  },
  90_000,
);

test('negative control: the audit after a scenario reports an acknowledged order and hold whose rows were deleted', async () => {
  const match = await scene.openSale(1);
  const fan = scene.fan();
  const [kept, lost] = [
    readHold(await fan.sendUntilAnswered(fan.holdRequest(match))),
    readHold(await fan.sendUntilAnswered(fan.holdRequest(match))),
  ];
  const { orderId } = readOrder(await fan.sendUntilAnswered(fan.checkoutRequest(kept)));
  await scene.rows('delete from orders where id = $1', [orderId]);
  await scene.rows('delete from reservations where id = $1', [lost.id]);
  const { faults, figures } = await audit(scene);
  expect(figures.lost).toBe(2);
  expect(faults.filter((fault) => fault.startsWith('acknowledged and lost'))).toEqual(
    expect.arrayContaining([expect.stringContaining(orderId), expect.stringContaining(lost.id)]),
  );
  expect(faults.filter((fault) => fault.startsWith('verify: ')).length).toBeGreaterThan(0);
}, 30_000);
