import { figuresOf, type WholeRound } from './figures.ts';
import { costOfMail, costOfPurchase, type PartTimes, timesPerPiece } from './parts.ts';
import type { Drain, WholeRun } from './run.ts';

const times = (changes: Partial<PartTimes> = {}): PartTimes => ({
  ...{
    monolith: 0,
    'queue service': 0,
    worker: 0,
    PostgreSQL: 0,
    'of it for the worker': 0,
    Redis: 0,
    'mail server': 0,
    buyers: 0,
  },
  ...changes,
});

const run = (changes: Partial<WholeRun>): WholeRun => ({
  ...{
    mode: 'running',
    buyers: 64,
    perSecond: 300,
    p50Ms: 100,
    p99Ms: 200,
    mailsPerSecond: 99,
    queueMessagesPerSecond: 600,
    refusals: {},
    faults: [],
  },
  ...{ perPurchase: times(), drain: undefined },
  ...changes,
});

const pgbench = (perSecond: number) => ({ perSecond, p50Ms: 1, p99Ms: 2, cpuMicros: undefined });
const round = (...runs: WholeRun[]): WholeRound => ({ pgbench: [pgbench(2000), pgbench(4000)], runs, failures: [] });

const describeFigures = (rounds: readonly WholeRound[]): string[] =>
  figuresOf(rounds).map(
    ({ what, values, meetsFloor }) => `${what} = ${values.join(' ')}${meetsFloor ? '' : ', below its floor'}`,
  );

test('purchases are divided by the mean of pgbench before and after the round, and by the purchases without a worker', () => {
  const runs = [
    run({ perSecond: 150 }),
    run({ mode: 'paused', perSecond: 270 }),
    run({ mode: 'absent', perSecond: 300, mailsPerSecond: 0 }),
  ];
  expect(describeFigures([round(...runs)])).toEqual([
    'whole purchases/s with everything running, 64 buyers = 0.05',
    'whole purchases/s with the worker running ÷ absent, 64 buyers = 0.5, below its floor',
    'whole purchases/s with the worker paused ÷ absent, 64 buyers = 0.9',
    'p99 of a whole purchase with everything running, 64 buyers = 200',
    'mails sent during the sale, 64 buyers = 99',
  ]);
});

test('a ratio needs both of its runs in the same round: a round in which one failed gives no value', () => {
  const complete = round(run({ perSecond: 180 }), run({ mode: 'absent', perSecond: 200 }));
  const incomplete = round(run({ perSecond: 1 }));
  const [, ratio] = figuresOf([complete, incomplete]);
  expect(ratio).toMatchObject({ values: [0.9], median: 0.9, meetsFloor: true });
});

test('whole purchases per second have a floor from 128 buyers on, because fewer leave the processors idle', () => {
  const figures = figuresOf([round(run({ perSecond: 290 }), run({ buyers: 128, perSecond: 290 }))]);
  expect(
    figures
      .filter(({ what }) => /everything running, \d+ buyers$/.test(what) && !what.startsWith('p99'))
      .map(({ meetsFloor }) => meetsFloor),
  ).toEqual([true, false]);
});

test('the p99 has a floor with 64 buyers only, and a higher p99 is below it', () => {
  const figures = figuresOf([round(run({ p99Ms: 251 }), run({ buyers: 128, p99Ms: 251 }))]).filter(({ isCost }) => isCost);
  expect(figures.map(({ floor, meetsFloor }) => [floor, meetsFloor])).toEqual([
    [250, false],
    [undefined, true],
  ]);
});

test('the cost of a mail is the median of the drains of a round; a run without a backlog has none', () => {
  const drain = (worker: number): Drain => ({
    mails: 5000,
    perSecond: 400,
    perMail: times({ worker, PostgreSQL: 100, Redis: 10 }),
  });
  const runs = [1000, 3000, 2000].map((worker) => run({ mode: 'absent', drain: drain(worker) }));
  expect(describeFigures([round(...runs, run({}))]).slice(-2)).toEqual([
    'backlog drained without a sale, limit 1,000/s, mailbox = 400',
    'CPU of one mail: worker, PostgreSQL and Redis, mailbox = 2110',
  ]);
});

test('the processor time for one purchase is the difference of two readings; backends for the worker are not counted twice', () => {
  const before = times({ monolith: 1000, PostgreSQL: 500, 'of it for the worker': 100, buyers: 50 });
  const after = times({ monolith: 3000, PostgreSQL: 1500, 'of it for the worker': 300, worker: 400, Redis: 200, buyers: 90 });
  const perPurchase = timesPerPiece(before, after, 2);
  expect(perPurchase).toEqual(
    times({ monolith: 1000, PostgreSQL: 500, 'of it for the worker': 100, worker: 200, Redis: 100, buyers: 20 }),
  );
  expect([costOfPurchase(perPurchase), costOfMail(perPurchase)]).toEqual([1800, 800]);
});
