// `npm run test:faults`: runs all fault scenarios on real processes. It starts its own monoliths, PostgreSQL and Redis, and kills,
// freezes, disconnects or locks them. Prints a table, writes artefacts/faults, and exits with 1 if a guarantee is broken.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/instruments/machine.ts';
import { markdownTable } from '../../bench/instruments/markdown-table.ts';
import { startOwnServers } from '../../bench/instruments/own-servers.ts';
import { build, ROOT } from '../../tools/local/build.ts';
import { explain } from '../../tools/local/trouble.ts';
import { scenarios } from './catalogue.ts';
import { runScenario, type ScenarioResult } from './scenario.ts';

const USAGE = `npm run test:faults -- [--only F10]… [--no-build]
  --only      ${scenarios.map(({ id, title }) => `${id}: ${title}`).join('\n              ')}
  --no-build  use the existing dist`;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

function report(results: readonly ScenarioResult[]): string {
  const rows = results.map(({ id, title, seconds, faults }) => [
    `${id} ${title}`,
    `${seconds} s`,
    faults.length === 0 ? 'held' : 'BROKEN',
  ]);
  const figures = results.map(({ id, figures: of }) => {
    const lines = Object.entries(of).map(([name, value]) => `  ${name}: ${value}`);
    return [id, ...lines].join('\n');
  });
  const faults = results.flatMap(({ id, faults: of }) => of.map((fault) => `BROKEN ${id}: ${fault}`));
  return [
    markdownTable(['Scenario', 'Took', 'Result'], rows),
    '',
    ...figures,
    ...(faults.length > 0 ? ['', ...faults] : []),
    '',
  ].join('\n');
}

function write(results: readonly ScenarioResult[]): string {
  const folder = path.join(ROOT, 'artefacts/faults');
  mkdirSync(folder, { recursive: true });
  const machine = describeMachine();
  writeFileSync(path.join(folder, 'faults.json'), JSON.stringify({ at: new Date(), machine, results }, null, 2));
  const head = `${new Date().toISOString()}, ${machine.processor}, ${machine.cores} cores, commit ${machine.commit}\n\n`;
  writeFileSync(path.join(folder, 'faults.md'), head + report(results));
  return folder;
}

async function main(only: readonly string[], shouldBuild: boolean): Promise<number> {
  if (shouldBuild) await build({ say, serverOnly: true });
  const chosen = scenarios.filter(({ id }) => only.length === 0 || only.includes(id));
  const servers = await startOwnServers();
  process.env.TEST_DATABASE_URL = servers.databaseUrl;
  process.env.TEST_REDIS_URLS = servers.redisUrl;
  const results: ScenarioResult[] = [];
  try {
    for (const scenario of chosen) {
      say(`${scenario.id} ${scenario.title}`);
      const result = await runScenario(scenario, servers);
      results.push(result);
      say(`${scenario.id} ${result.faults.length === 0 ? 'held' : 'BROKEN'} ${JSON.stringify(result.figures)}`);
    }
  } finally {
    await servers.stop();
  }
  process.stdout.write(report(results));
  say(`written to ${write(results)}`);
  return results.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

// On a signal, exit: all processes that this process started then exit too, because their pipe or channel is closed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

try {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      only: { type: 'string', multiple: true },
      build: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
    },
  });
  const only = values.only?.flatMap((ids) => ids.split(',')) ?? [];
  const isValid = !values.help && only.every((scenarioId) => scenarios.some(({ id }) => id === scenarioId));
  if (!isValid) process.stderr.write(`${USAGE}\n`);
  process.exitCode = isValid ? await main(only, values.build) : 2;
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
// Exit explicitly: sockets to killed processes may never close, so Node would not exit by itself and would use a whole core.
process.exit();
