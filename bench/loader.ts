// `npm run bench:loader`: events per second from 40 local sources into PostgreSQL with 1, 2, 4 and 8 loaders, compared with a COPY of
// the same rows into the same table on the same server. Exits with 1 if a row is missing or stored twice, an event was transported
// twice, a source got two requests within 200 ms or, with --gate, a figure is below its floor.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, ROOT } from '../tools/local/build.ts';
import { describeMachine } from './instruments/machine.ts';
import { markdownTable } from './instruments/markdown-table.ts';
import { startOwnServers } from './instruments/own-servers.ts';
import { median } from './instruments/quantiles.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { migrateDatabase } from './loader/loader-process.ts';
import { MAX_SOURCE_EVENTS_PER_SECOND, LoaderSetup, SOURCE_COUNT, type RunResult } from './loader/measured-run.ts';

const USAGE = `npm run bench:loader -- [--quick] [--seconds 5] [--rounds 3] [--gate] [--no-build] [--name <word>]
  --quick     one round of 3 seconds
  --gate      exit with 1 if a figure is below its floor
  --no-build  measure the existing dist`;

const INSTANCES = [1, 2, 4, 8];
const [FLOOR, AIM] = [0.15, 0.4];
/**
 * Rounds differ by this share on a shared machine. If more loaders (such as 4 instead of 2) are slower by more than this share,
 * both in events per second and relative to COPY, the report says so.
 */
const NOISE = 0.15;

const startedAt = Date.now();
const say = (line: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

interface Figure {
  readonly instances: number;
  readonly perSecond: number;
  readonly copyPerSecond: number;
  readonly share: number;
  readonly sentAgain: number;
  readonly minGapMs: number;
  /** Processor time per event in microseconds: of the loaders, of PostgreSQL and of Redis. */
  readonly cpu: readonly number[];
}

function figuresOf(results: readonly RunResult[]): Figure[] {
  return INSTANCES.map((instances) => {
    const runs = results.filter((run) => run.instances === instances);
    const medianOf = (member: 'perSecond' | 'copyPerSecond' | 'share'): number => median(runs.map((run) => run[member]));
    return {
      instances,
      perSecond: medianOf('perSecond'),
      copyPerSecond: medianOf('copyPerSecond'),
      share: medianOf('share'),
      sentAgain: runs.reduce((sum, run) => sum + run.sentAgain, 0),
      minGapMs: Math.min(...runs.map(({ minGapMs }) => minGapMs)),
      cpu: (['service', 'database', 'redis'] as const).map((part) => median(runs.map(({ cpuMicros }) => cpuMicros[part]))),
    };
  });
}

function reportOf(results: readonly RunResult[]): string {
  const figures = figuresOf(results);
  const rows = figures.map(({ instances, perSecond, copyPerSecond, share, sentAgain, minGapMs, cpu }) => [
    String(instances),
    perSecond.toFixed(0),
    copyPerSecond.toFixed(0),
    share.toFixed(2),
    share >= AIM ? 'aim' : share >= FLOOR ? 'floor' : 'BELOW',
    String(sentAgain),
    minGapMs.toFixed(1),
    cpu.map((micros) => micros.toFixed(2)).join(' + '),
  ]);
  const falls = figures.flatMap(({ instances, share, perSecond }, index) => {
    const before = figures[index - 1];
    return before && share < before.share * (1 - NOISE) && perSecond < before.perSecond * (1 - NOISE)
      ? [`falls from ${before.instances} to ${instances} loaders`]
      : [];
  });
  const faults = [
    ...results.flatMap(({ instances, faults: runFaults }) => runFaults.map((fault) => `${instances} loaders: ${fault}`)),
    ...falls,
  ];
  const { processor, cores, commit, node, loadBefore } = describeMachine();
  return [
    `${SOURCE_COUNT} local sources into PostgreSQL; compared with COPY of the same rows; the ceiling of the rate limiter is ${MAX_SOURCE_EVENTS_PER_SECOND}/s. Floor ${FLOOR}, aim ${AIM}.`,
    `${processor}, ${cores} cores for sources, loaders, PostgreSQL and Redis together; load before ${loadBefore.toFixed(1)}; node ${node}; commit ${commit}; ${new Date().toISOString()}`,
    '',
    markdownTable(
      [
        'Loaders',
        'Events/s',
        'COPY rows/s',
        'Share',
        'Is',
        'Transported twice',
        'Least gap ms',
        'CPU µs an event: loaders + PostgreSQL + Redis',
      ],
      rows,
    ),
    '',
    ...(faults.length > 0 ? faults.map((fault) => `BROKEN ${fault}`) : ['Stored twice 0, missing 0 in every run.']),
    '',
  ].join('\n');
}

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly gate: boolean;
  readonly build: boolean;
  readonly name: string;
}

async function main(options: Options): Promise<number> {
  if (options.build) await build({ say, serverOnly: true });
  const servers = await startOwnServers();
  const results: RunResult[] = [];
  try {
    await migrateDatabase(servers.databaseUrl);
    const setup = await LoaderSetup.open(servers);
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        for (const instances of INSTANCES) {
          const result = await setup.measure(instances, options.seconds);
          results.push(result);
          const { perSecond, copyPerSecond, share, faults, cpuMicros } = result;
          const cpu = [cpuMicros.service, cpuMicros.database, cpuMicros.redis].map((micros) => micros.toFixed(2)).join(' + ');
          say(
            `${instances} loaders: ${perSecond.toFixed(0)}/s, COPY ${copyPerSecond.toFixed(0)}/s, ${share.toFixed(2)}, ${cpu} µs ${faults.join('; ')}`,
          );
        }
      }
    } finally {
      await setup.close();
    }
  } finally {
    await servers.stop();
  }
  const report = reportOf(results);
  process.stdout.write(report);
  const file = `${new Date().toISOString().slice(0, 10)}-loader${options.name && `-${options.name}`}.md`;
  mkdirSync(path.join(ROOT, 'bench/results'), { recursive: true });
  writeFileSync(path.join(ROOT, 'bench/results', file), `# bench:loader\n\n${report}`);
  const isBelow = options.gate && figuresOf(results).some(({ share }) => share < FLOOR);
  return isBelow || results.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

function readOptions(): Options | undefined {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      ...{ seconds: { type: 'string' }, rounds: { type: 'string' }, name: { type: 'string', default: '' } },
      ...{ quick: flag, gate: flag, help: flag, build: { ...flag, default: true } },
    },
  });
  const [seconds, rounds] = [Number(values.seconds ?? (values.quick ? 3 : 5)), Number(values.rounds ?? (values.quick ? 1 : 3))];
  const isValid = !values.help && seconds > 0 && seconds <= 60 && rounds > 0 && rounds <= 10 && /^[a-z-]*$/.test(values.name);
  return isValid ? { seconds, rounds, gate: values.gate, build: values.build, name: values.name } : undefined;
}

await runBenchmark({ usage: USAGE, readOptions, main });
