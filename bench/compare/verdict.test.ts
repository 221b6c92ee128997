import type { Figure } from './benchmarks.ts';
import type { PairResults } from './run-pairs.ts';
import { type ReportContext, verdictOf } from './verdict.ts';

const machine = {
  ...{ processor: 'EPYC', cores: 2, memoryGib: 4, platform: 'linux x64', node: 'v24', commit: 'abc', loadBefore: 0.2 },
};
const context: ReportContext = {
  machine,
  options: { old: 'a', new: 'b', only: ['queue'], pairs: 1 },
  checkouts: { old: { folder: '', title: 'abc first' }, new: { folder: '', title: 'def second' } },
};
const figure = (name: string, value: number): Figure => ({ name, value, isLessBetter: false });
const measured = (old: Figure[], current: Figure[]): PairResults => ({ pairs: { queue: [{ old, new: current }] }, failures: [] });

test('verdict: a commit that is 3 % slower is accepted', () => {
  const { report, isGood } = verdictOf(measured([figure('joins', 100)], [figure('joins', 97)]), context);
  expect(isGood).toBe(true);
  expect(report).toContain('Medians below 0.95: 0 of 1.');
  expect(report).toContain('2 × EPYC, 4 GiB, linux x64, Node v24; load average before 0.2');
  expect(report).not.toContain('WARNING');
});

test('verdict: a commit that is 20 % slower in one of two figures is not accepted', () => {
  const old = [figure('joins', 100), figure('ticks', 100)];
  const { report, isGood } = verdictOf(measured(old, [figure('joins', 80), figure('ticks', 100)]), context);
  expect(isGood).toBe(false);
  expect(report).toContain('Medians below 0.95: 1 of 2.');
});

test('verdict: the new commit is not accepted if it lacks a figure of the old commit; an additional figure is accepted', () => {
  const both = figure('joins', 100);
  const lost = verdictOf(measured([both, figure('ticks', 1)], [both]), context);
  expect(lost.isGood).toBe(false);
  expect(lost.report).toContain('- not compared, only in old: queue: ticks');
  const added = verdictOf(measured([both], [both, figure('ticks', 1)]), context);
  expect(added.isGood).toBe(true);
  expect(added.report).toContain('- not compared, only in new: queue: ticks');
});

test('verdict: a commit is not accepted if a run failed, even if the remaining pairs could be compared', () => {
  const pairs = measured([figure('joins', 100)], [figure('joins', 100)]);
  const { report, isGood } = verdictOf({ ...pairs, failures: ['pair 2 of 2: queue, new failed: no'] }, context);
  expect(isGood).toBe(false);
  expect(report).toContain('- pair 2 of 2: queue, new failed: no');
});

test('verdict: a commit is not accepted if a benchmark has no complete pair', () => {
  const { report, isGood } = verdictOf({ pairs: {}, failures: [] }, context);
  expect(isGood).toBe(false);
  expect(report).toContain('- not compared at all: queue');
  expect(report).toContain('Nothing was compared.');
});

test('verdict: a machine that was busy before the start gives a warning', () => {
  const pairs = measured([figure('joins', 100)], [figure('joins', 100)]);
  const { report, isGood } = verdictOf(pairs, { ...context, machine: { ...machine, loadBefore: 1.1 } });
  expect(report).toContain('WARNING: the load average is above 1');
  expect(isGood).toBe(true);
});
