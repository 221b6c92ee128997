// `npm run bench:queue`: the speed of the waiting room, each figure beside the plain technology below it (redis-benchmark, bare ws). Exits
// with 1 if a measurement failed or, with --gate, a figure is below its floor.
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { build } from '../tools/local/build.ts';
import { describeMachine } from './instruments/machine.ts';
import { markdownTable } from './instruments/markdown-table.ts';
import { type OwnServers, startOwnServers } from './instruments/own-servers.ts';
import { writeFiles } from './instruments/results.ts';
import { runBenchmark } from './instruments/run-benchmark.ts';
import { median, p99 } from './instruments/quantiles.ts';
import { startQueueService } from './instruments/service.ts';
import { measureFront } from './queue/front.ts';
import {
  inEmptyRedis,
  joinsOverHttp,
  joinsWithoutHttp,
  openWaitingRoomLines,
  zaddsPerSecond,
  type WaitingRoomLines,
} from './queue/joins.ts';
import {
  createLine,
  measureBarePush,
  measureManySockets,
  measureMemory,
  measurePush,
  queueServiceSettings,
  startYardstickServer,
  withServer,
} from './queue/sockets.ts';
import { measureTick } from './queue/tick.ts';

const parts = ['joins', 'http', 'tick', 'push', 'front', 'memory', 'many'] as const;
const USAGE = `npm run bench:queue -- [--quick] [--only ${parts.join('|')}]… [--rounds 3] [--gate] [--no-build] [--name <word>] [--note <text>]
  --quick     fewer fans, one round, without the 100,000 sockets; about a minute`;

interface Figure {
  readonly what: string;
  readonly values: readonly number[];
  readonly unit: string;
  readonly floor: number;
  readonly aim: number;
  /** True if less is better. */
  readonly isCost?: boolean;
  readonly detail: string;
}

interface Scale {
  readonly rounds: number;
  readonly joins: number;
  readonly waiting: number;
  readonly pushSockets: number;
  readonly memorySockets: number;
  readonly manySockets: number;
  readonly seconds: number;
  readonly frontFans: number;
}

const FULL = {
  joins: 300_000,
  waiting: 100_000,
  pushSockets: 10_000,
  memorySockets: 19_000,
  manySockets: 100_000,
  seconds: 4,
  frontFans: 200,
};
const QUICK = {
  joins: 100_000,
  waiting: 100_000,
  pushSockets: 4000,
  memorySockets: 6000,
  manySockets: 0,
  seconds: 2,
  frontFans: 60,
};

const startedAt = Date.now();
const say = (text: string): void =>
  void process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const short = (value: number): string => (value >= 100 ? whole(value) : value.toPrecision(3));

interface QueueSetup extends Scale {
  readonly core: WaitingRoomLines;
  readonly redisUrl: string;
  readonly servers: OwnServers;
}

/** Runs a measurement `count` times, one after the other. */
async function runRounds<T>(count: number, measure: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < count; round += 1) results.push(await measure());
  return results;
}

/**
 * The lowest number of rounds of the join measurement. Each round starts a new Redis, because the cost of a join differs by up to a
 * tenth between two Redis processes.
 */
const MIN_REDIS_PROCESSES = 5;

async function joins({ core: first, servers, redisUrl, joins: count, rounds: times }: QueueSetup): Promise<Figure[]> {
  // Warm up: V8 compiles our code during the first joins, while the C program redis-benchmark is compiled already.
  await inEmptyRedis(redisUrl, () => joinsWithoutHttp(first, count));
  const runs = await runRounds(Math.max(times, MIN_REDIS_PROCESSES), async () => {
    await inEmptyRedis(redisUrl, () => servers.kill('redis'));
    await servers.start('redis');
    const core = await openWaitingRoomLines(redisUrl);
    await joinsWithoutHttp(core, count / 10);
    // Each measurement starts with an empty Redis: session tokens of an earlier measurement would expire only after half an hour.
    const [before, ours, after] = [
      await inEmptyRedis(redisUrl, () => zaddsPerSecond(redisUrl, count)),
      await inEmptyRedis(redisUrl, () => joinsWithoutHttp(core, count)),
      await inEmptyRedis(redisUrl, () => zaddsPerSecond(redisUrl, count)),
    ];
    await core.close();
    return { ours, zadds: (before + after) / 2 };
  });
  const detail = `${whole(median(runs.map(({ ours }) => ours)))} joins/s; redis-benchmark ${whole(median(runs.map(({ zadds }) => zadds)))}/s`;
  const values = runs.map(({ ours, zadds }) => ours / zadds);
  return [{ what: 'joins through the core ÷ redis-benchmark ZADD -P 100', values, unit: '', floor: 0.3, aim: 0.45, detail }];
}

async function http({ core, redisUrl, seconds, rounds: times }: QueueSetup): Promise<Figure[]> {
  const runs = await runRounds(times, async () => {
    const service = await startQueueService(queueServiceSettings(redisUrl));
    const { matchId } = await createLine(core, 1);
    const ours = await withServer(service, () => joinsOverHttp(service.url, matchId, { callers: 128, seconds }));
    const plain = await startYardstickServer('http');
    const url = `http://127.0.0.1:${plain.port}`;
    const yardstick = await withServer(plain, () => joinsOverHttp(url, matchId, { callers: 128, seconds }));
    if (Object.keys(ours.refusals).length > 0) throw new Error(`refused: ${JSON.stringify(ours.refusals)}`);
    return { ours: ours.perSecond, yardstick: yardstick.perSecond };
  });
  const detail = `${whole(median(runs.map(({ ours }) => ours)))}/s; no-op POST ${whole(median(runs.map(({ yardstick }) => yardstick)))}/s`;
  const values = runs.map(({ ours, yardstick }) => ours / yardstick);
  return [{ what: 'joins over HTTP, one pod ÷ no-op POST', values, unit: '', floor: 0.4, aim: 0.7, detail }];
}

async function tick({ core, redisUrl, waiting, rounds: times }: QueueSetup): Promise<Figure[]> {
  const { tickMs, tellMs, snapshotMs } = await measureTick(core, redisUrl, waiting, 5 * times);
  const detail = `${short(tickMs)} ms; ZRANGE and a Map ${short(snapshotMs)} ms; then finding fans to notify ${short(tellMs)} ms`;
  const what = `one ZRANGE snapshot ÷ tick, ${whole(waiting)} waiting`;
  return [{ what, values: [snapshotMs / tickMs], unit: '×', floor: 20, aim: 50, detail }];
}

async function push({ core, redisUrl, pushSockets, rounds: times }: QueueSetup): Promise<Figure[]> {
  const runs = await runRounds(times, async () => {
    const bare = await measureBarePush(pushSockets, 3);
    return { bare, ours: await measurePush(core, redisUrl, pushSockets, 3) };
  });
  const valuesOf = (value: (run: (typeof runs)[number]) => number) => runs.map(value);
  const sockets = whole(pushSockets);
  return [
    {
      what: `own message to ${sockets} sockets: bare ws.send ÷ ours`,
      values: valuesOf(({ bare, ours }) => bare.pushMs / ours.pushMs),
      ...{ unit: '', floor: 1, aim: 1.3 },
      detail: `${short(median(valuesOf(({ ours }) => ours.pushMs)))} ms; bare ${short(median(valuesOf(({ bare }) => bare.pushMs)))} ms`,
    },
    {
      what: 'event-loop stall during a full push',
      values: valuesOf(({ ours }) => ours.stallMs),
      ...{ unit: 'ms', floor: 20, aim: 10, isCost: true },
      detail: `bare ${short(median(valuesOf(({ bare }) => bare.stallMs)))} ms`,
    },
    {
      what: `turn granted → on the socket, ${sockets} connected, p99`,
      values: valuesOf(({ ours }) => ours.turnP99Ms),
      ...{ unit: 'ms', floor: 100, aim: 50, isCost: true },
      detail: `${runs[0]!.ours.turns} turns`,
    },
  ];
}

async function front({ servers, frontFans }: QueueSetup): Promise<Figure[]> {
  const latencies = await measureFront(servers, frontFans);
  const detail = `${latencies.length} fans, median ${short(latencies[latencies.length >> 1]!)} ms`;
  const what = 'front_reached → queue_front push handed over, p99';
  return [{ what, values: [p99(latencies)], unit: 'ms', floor: 2000, aim: 500, isCost: true, detail }];
}

async function memory({ core, redisUrl, memorySockets, rounds: times }: QueueSetup): Promise<Figure[]> {
  const runs = await runRounds(times, () => measureMemory(core, redisUrl, memorySockets));
  const valuesOf = (value: (run: (typeof runs)[number]) => number) => runs.map(value);
  return [
    {
      what: `memory a connection ÷ Nest gateway, ${whole(memorySockets)} in one process`,
      values: valuesOf(({ ours, yardstick }) => ours / yardstick),
      ...{ unit: '', floor: 0.6, aim: 0.45, isCost: true },
      detail: `${whole(median(valuesOf(({ ours }) => ours)))} bytes; gateway ${whole(median(valuesOf(({ yardstick }) => yardstick)))}`,
    },
  ];
}

async function many({ core, redisUrl, manySockets }: QueueSetup): Promise<Figure[]> {
  if (manySockets === 0) return [];
  const run = await measureManySockets(core, redisUrl, manySockets);
  const collected = `${run.collectedGigabytes.toFixed(2)} GB after a full collection`;
  const detail = `${run.processes} processes, ${collected}, ${whole(run.connectsPerSecond)} connects/s`;
  const what = `${whole(manySockets)} sockets:`;
  return [
    { what: `${what} memory of the servers`, values: [run.gigabytes], unit: 'GB', floor: 1.5, aim: 1, isCost: true, detail },
    { what: `${what} all have an update`, values: [run.pushMs / 1000], unit: 's', floor: 3, aim: 1, isCost: true, detail },
  ];
}

const measures = { joins, http, tick, push, front, memory, many } satisfies Record<(typeof parts)[number], unknown>;

function isMet({ values, isCost }: Figure, bound: number): boolean {
  return isCost ? median(values) <= bound : median(values) >= bound;
}

function reportOf(figures: readonly Figure[], head: readonly string[]): string {
  const rows = figures.map((figure) => [
    ...[figure.what, `${short(median(figure.values))} ${figure.unit}`.trim(), figure.values.map(short).join(' ')],
    ...[`${figure.isCost ? '≤' : '≥'} ${figure.floor}`, `${figure.isCost ? '≤' : '≥'} ${figure.aim}`],
    isMet(figure, figure.aim) ? 'aim met' : isMet(figure, figure.floor) ? 'floor met' : 'BELOW FLOOR',
    figure.detail,
  ]);
  return `${head.join('\n')}\n\n${markdownTable(['figure', 'measured', 'rounds', 'floor', 'aim', '', 'in full'], rows)}\n`;
}

function readOptions() {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      ...{ quick: flag, gate: flag, help: flag, build: { ...flag, default: true } },
      ...{ rounds: text, name: text, note: text, only: { ...text, multiple: true } },
    },
  });
  const only = values.only?.flatMap((names) => names.split(',')) ?? [...parts];
  const isValid = only.every((name) => (parts as readonly string[]).includes(name));
  if (values.help || !isValid) return undefined;
  const scale: Scale = { ...(values.quick ? QUICK : FULL), rounds: Number(values.rounds ?? (values.quick ? 1 : 3)) };
  return { ...values, scale, chosen: parts.filter((part) => only.includes(part)) };
}

async function main(options: NonNullable<ReturnType<typeof readOptions>>): Promise<number> {
  if (options.build) await build({ say, serverOnly: true });
  const machine = describeMachine();
  const servers = await startOwnServers();
  const core = await openWaitingRoomLines(servers.redisUrl);
  const [figures, failures]: [Figure[], string[]] = [[], []];
  for (const part of options.chosen) {
    try {
      const found = await measures[part]({ ...options.scale, core, redisUrl: servers.redisUrl, servers });
      figures.push(...found);
      for (const { what, values, unit, detail } of found) say(`${what}: ${short(median(values))} ${unit} (${detail})`);
    } catch (error) {
      failures.push(`**${part} failed: ${error instanceof Error ? error.message : String(error)}**`);
      say(failures.at(-1)!);
    }
  }
  await core.close();
  await servers.stop();
  const head = [
    `# Waiting room benchmark, ${new Date(startedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    '',
    `Commit ${machine.commit}. ${machine.cores} × ${machine.processor}, ${machine.memoryGib} GiB, ${machine.platform}, Node ${machine.node}; load average before ${machine.loadBefore.toFixed(1)}.`,
    `${options.scale.rounds} round${options.scale.rounds === 1 ? '' : 's'}, medians. Fans, services and Redis share the machine; Redis with appendfsync everysec. **Rate limits are off.**`,
    ...(options.quick ? ['A quick run: with fewer fans than the floors and aims are meant for.'] : []),
    ...(options.note ? [options.note] : []),
    ...failures,
  ];
  const report = reportOf(figures, head);
  const at = new Date(startedAt);
  process.stdout.write(report);
  const data = { at, machine, scale: options.scale, figures, failures };
  say(`written to ${writeFiles({ at, benchmark: 'queue', name: options.name, report, data })}`);
  const isBelow = options.gate && figures.some((figure) => !isMet(figure, figure.floor));
  return failures.length > 0 || isBelow ? 1 : 0;
}

await runBenchmark({ usage: USAGE, readOptions, main });
