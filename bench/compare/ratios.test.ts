import { readFileSync } from 'node:fs';
import path from 'node:path';
import { benchmarkNames, benchmarks, type Figure } from './benchmarks.ts';
import { compare, type Pair, ratioTable } from './ratios.ts';

const figure = (value: number, isLessBetter = false, name = 'x'): Figure => ({ name, value, isLessBetter });
const pair = (old: number, current: number, isLessBetter = false): Pair => ({
  old: [figure(old, isLessBetter)],
  new: [figure(current, isLessBetter)],
});
const first = (pairs: Pair[]) => compare(pairs).comparisons[0];

const sampleOf = (name: (typeof benchmarkNames)[number]): Figure[] => {
  const file = path.join(import.meta.dirname, `samples/${name}.${benchmarks[name].extension}`);
  return benchmarks[name].read(readFileSync(file, 'utf8'));
};
/** All figures of a machine or program that does so much of the work in the same time. */
const atSpeed = (speed: number, figures: readonly Figure[]): Figure[] =>
  figures.map((of) => ({ ...of, value: of.isLessBetter ? of.value / speed : of.value * speed }));

describe.each(benchmarkNames)('a real result of %s', (name) => {
  const old = sampleOf(name);
  const below = (speed: number): string[] =>
    compare([{ old, new: atSpeed(speed, old) }]).comparisons.flatMap((of) => (of.isBelow ? of.name : []));

  test('a commit that is 20 % slower is flagged in every figure', () => {
    expect(below(0.8)).toEqual(old.map((of) => of.name));
  });

  test('a commit that is 4 % slower, as fast, or faster is not flagged', () => {
    expect([below(0.96), below(1), below(1.25)]).toEqual([[], [], []]);
  });
});

test('a ratio above 1 is better in both directions', () => {
  expect(first([pair(100, 125)])?.median).toBe(1.25);
  expect(first([pair(100, 80, true)])?.median).toBe(1.25);
  expect(first([pair(100, 125, true)])?.median).toBe(0.8);
});

test('a median of exactly 0.95 is not flagged', () => {
  expect(first([pair(100, 95)])?.isBelow).toBe(false);
  expect(first([pair(1000, 949)])?.isBelow).toBe(true);
});

test('one bad pair of six does not flag a figure, and its ratio shows in the spread', () => {
  const pairs = [pair(100, 50), ...[100, 101, 102, 99, 98].map((value) => pair(100, value))];
  expect(first(pairs)).toMatchObject({ isBelow: false, median: 0.995 });
  expect(ratioTable(compare(pairs).comparisons)).toContain('0.500 … 1.020');
});

test('ratios are taken inside a pair: a machine that becomes slower for both changes nothing', () => {
  const { ratios } = first([pair(100, 90), pair(50, 45), pair(10, 9)])!;
  expect(ratios).toEqual([0.9, 0.9, 0.9]);
});

test('values of zero: twice nothing is equal, and a cost that appears is flagged', () => {
  expect(first([pair(0, 0, true)])).toMatchObject({ median: 1, isBelow: false });
  expect(first([pair(0, 5, true)])).toMatchObject({ median: 0, isBelow: true });
});

test('a figure that one run lacks is compared in the other pairs', () => {
  const pairs = [pair(100, 90), { old: [figure(100)], new: [] }, pair(100, 94)];
  expect(first(pairs)?.ratios).toEqual([0.9, 0.94]);
  expect(compare(pairs)).toMatchObject({ onlyOld: [], onlyNew: [] });
});

test('a figure that is never in both commits is named, not compared', () => {
  const pairs = [{ old: [figure(1, false, 'gone'), figure(1)], new: [figure(1), figure(1, false, 'added')] }];
  expect(compare(pairs)).toMatchObject({ comparisons: [{ name: 'x' }], onlyOld: ['gone'], onlyNew: ['added'] });
});

test('the table shows median, spread, number of pairs, both values and a mark', () => {
  const pairs = [
    { old: [figure(27_280), figure(2, true, 'y')], new: [figure(20_460), figure(2, true, 'y')] },
    { old: [figure(27_280), figure(2, true, 'y')], new: [figure(24_552), figure(1.6, true, 'y')] },
  ];
  const cells = ratioTable(compare(pairs).comparisons)
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  expect(cells).toEqual([
    ['', 'x', '0.825', '0.750 … 0.900', '2', '27,280', '22,506', 'BELOW 0.95', ''],
    ['', 'y', '1.125', '1.000 … 1.250', '2', '2.00', '1.80', '', ''],
  ]);
});
