// The files in samples/ are results of the quick benchmarks of commit 16a3242; whole.json is newer.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type BenchmarkName, benchmarkNames, benchmarks } from './benchmarks.ts';

const sample = (name: BenchmarkName): string =>
  readFileSync(path.join(import.meta.dirname, `samples/${name}.${benchmarks[name].extension}`), 'utf8');
const figuresOf = (name: BenchmarkName) => benchmarks[name].read(sample(name));
const describeFigures = (name: BenchmarkName): string[] =>
  figuresOf(name).map(
    ({ name: figure, value, isLessBetter }) => `${figure} = ${value.toPrecision(4)}${isLessBetter ? ', less is better' : ''}`,
  );

test('purchase: reads from the result file all figures, and the processor time of every scenario except the yardstick `textbook`', () => {
  expect(describeFigures('purchase')).toEqual([
    'reservations/s, 64 callers in process (× pgbench) = 1.391',
    '512 callers in process (× pgbench) = 5.682',
    'over HTTP, 256 connections, one process (× pgbench) = 1.772',
    'two processes, same match (× pgbench) = 5.114',
    'whole purchases over HTTP, 64 buyers (× pgbench) = 0.1802',
    "p99 at 64 callers (× pgbench's p99) = 1.281, less is better",
    'against the textbook transaction (×) = 20.41',
    'cost of doubling the seats (40k → 80k) (× CPU) = 0.7886, less is better',
    'cost at 80 % sold (× CPU) = 0.8690, less is better',
    'CPU of one hold, in-process-64 (µs) = 53.00, less is better',
    'CPU of one hold, in-process-512 (µs) = 38.75, less is better',
    'CPU of one hold, http-256 (µs) = 136.0, less is better',
    'CPU of one hold, two-processes (µs) = 56.43, less is better',
    'CPU of one purchase, whole-purchases (µs) = 1317, less is better',
    'CPU of one hold, doubled-seats (µs) = 41.79, less is better',
    'CPU of one hold, nearly-sold (µs) = 46.05, less is better',
  ]);
});

test('queue: reads all figures from the result file of the quick benchmark', () => {
  expect(describeFigures('queue')).toEqual([
    'joins through the core ÷ redis-benchmark ZADD -P 100 = 0.3204',
    'joins over HTTP, one pod ÷ no-op POST = 0.8315',
    'one ZRANGE snapshot ÷ tick, 100,000 waiting (×) = 50.67',
    'own message to 4,000 sockets: bare ws.send ÷ ours = 0.9932',
    'event-loop stall during a full push (ms) = 11.81, less is better',
    'turn granted → on the socket, 4,000 connected, p99 (ms) = 21.87, less is better',
    'front_reached → queue_front push handed over, p99 (ms) = 28.27, less is better',
    'memory a connection ÷ Nest gateway, 6,000 in one process = 0.2570, less is better',
  ]);
});

test('notifications: reads all figures from the result file; less is better for a figure in units of time, even if it is not marked as a cost', () => {
  expect(describeFigures('notifications')).toEqual([
    '100,000 pushes to a no-op provider vs one BullMQ job a token (×) = 27.34',
    'e-mail jobs/s with a no-op provider vs bare BullMQ (×) = 0.5511',
    'turn_granted to the provider behind 100,000 bulk pushes, p99 (ms) = 11.57, less is better',
    'most sends in any second at limit 100, rollout of two workers = 100.0, less is better',
    'outbox drained into BullMQ jobs vs addBulk without a database (×) = 0.6921',
    'broadcast rows (one row per ≤ 500 recipients) out of the outbox into Redis, in bundles, vs DB-only DELETE drain of the same rows (×) = 0.4125',
    'the same rows until each is a job in its queue: drained, then unpacked by a worker (rows/s) = 2.023e+4',
    'a broadcast to 100,000, from its rows in the outbox to the last device at a no-op provider (ms) = 216.2, less is better',
  ]);
});

test('loader: reads events per second and processor time for each number of loaders from the result file', () => {
  expect(describeFigures('loader')).toEqual([
    '1 loader (events/s) = 1.170e+5',
    'CPU of one event, 1 loader (µs) = 7.640, less is better',
    '2 loaders (events/s) = 1.543e+5',
    'CPU of one event, 2 loaders (µs) = 7.920, less is better',
    '4 loaders (events/s) = 1.454e+5',
    'CPU of one event, 4 loaders (µs) = 8.720, less is better',
    '8 loaders (events/s) = 1.232e+5',
    'CPU of one event, 8 loaders (µs) = 11.23, less is better',
  ]);
});

test('whole: reads all figures from the result file; fewer milliseconds and microseconds are better', () => {
  const figures = [
    {
      what: 'whole purchases/s with everything running, 128 buyers',
      unit: '× pgbench',
      floor: 0.1,
      isCost: false,
      values: [0.09],
    },
    { what: 'p99 of a whole purchase with everything running, 128 buyers', unit: 'ms', isCost: true, values: [251.3] },
  ];
  expect(benchmarks.whole.read(JSON.stringify({ figures }))).toEqual([
    { name: 'whole purchases/s with everything running, 128 buyers (× pgbench)', value: 0.09, isLessBetter: false },
    { name: 'p99 of a whole purchase with everything running, 128 buyers (ms)', value: 251.3, isLessBetter: true },
  ]);
});

test('the value of a figure is the median over the rounds of the benchmark; rounds in which it was not measured do not count', () => {
  const figures = [{ what: 'joins', unit: '', values: [3, null, 1, 2] }];
  expect(benchmarks.queue.read(JSON.stringify({ figures }))).toEqual([{ name: 'joins', value: 2, isLessBetter: false }]);
});

test('purchase: the result of a machine that cannot measure processor time has no such figure', () => {
  const text = sample('purchase').replaceAll(/"service": [\d.]+/g, '"service": null');
  const names = benchmarks.purchase.read(text).map(({ name }) => name);
  expect(names).toHaveLength(9);
  expect(names.filter((name) => name.startsWith('CPU'))).toEqual([]);
});

test('purchase: a result that was cut short by the time limit is refused', () => {
  const text = sample('purchase').replace('"cutShort": false', '"cutShort": true');
  expect(() => benchmarks.purchase.read(text)).toThrow('before all scenarios were run');
});

test.each(benchmarkNames)('%s: a result without figures is refused', (name) => {
  const empty =
    benchmarks[name].extension === 'json'
      ? '{"figures": [], "rounds": [], "cutShort": false}'
      : '| Loaders | Events/s | CPU µs an event |';
  expect(() => benchmarks[name].read(empty)).toThrow('holds no figures');
  expect(() => benchmarks[name].read('')).toThrow();
});

test.each([
  { problem: 'a column has a different name', from: 'Events/s', to: 'Events per second', expectedMessage: 'other columns' },
  { problem: 'a cell holds no number', from: '116978', to: 'many', expectedMessage: 'no number' },
])('loader: a table is refused when $problem', ({ from, to, expectedMessage }) => {
  expect(() => benchmarks.loader.read(sample('loader').replace(from, to))).toThrow(expectedMessage);
});
