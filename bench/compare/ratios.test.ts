import { readFileSync } from 'node:fs';
import path from 'node:path';
import { benchmarkNames, benchmarks, type Figure } from './benchmarks.ts';
import { compare, type FigurePair, ratioTable } from './ratios.ts';

const figure = (value: number, isLessBetter = false, name = 'x'): Figure => ({ name, value, isLessBetter });
const pair = (old: number, current: number, isLessBetter = false): FigurePair => ({
  old: [figure(old, isLessBetter)],
  new: [figure(current, isLessBetter)],
});
const firstComparison = (pairs: FigurePair[]) => compare(pairs).comparisons[0];

const sampleOf = (name: (typeof benchmarkNames)[number]): Figure[] => {
  const file = path.join(import.meta.dirname, `samples/${name}.${benchmarks[name].extension}`);
  return benchmarks[name].read(readFileSync(file, 'utf8'));
};
/** The figures of a commit with another speed: 0.8 means 80 % of the work in the same time. */
const atSpeed = (speed: number, figures: readonly Figure[]): Figure[] =>
  figures.map((original) => ({
    ...original,
    value: original.isLessBetter ? original.value / speed : original.value * speed,
  }));

describe.each(benchmarkNames)('compare, with a real result of %s', (name) => {
  const old = sampleOf(name);
  const below = (speed: number): string[] =>
    compare([{ old, new: atSpeed(speed, old) }]).comparisons.flatMap((comparison) => (comparison.isBelow ? comparison.name : []));

  test('a commit that is 20 % slower is flagged as worse in every figure', () => {
    expect(below(0.8)).toEqual(old.map((original) => original.name));
  });

  test('a commit that is 4 % slower, as fast, or faster is not flagged as worse', () => {
    expect([below(0.96), below(1), below(1.25)]).toEqual([[], [], []]);
  });
});

test('compare: a ratio above 1 means better, for figures where more is better and where less is better', () => {
  expect(firstComparison([pair(100, 125)])?.median).toBe(1.25);
  expect(firstComparison([pair(100, 80, true)])?.median).toBe(1.25);
  expect(firstComparison([pair(100, 125, true)])?.median).toBe(0.8);
});

test('compare: a figure with a median ratio of exactly 0.95 is not flagged as worse', () => {
  expect(firstComparison([pair(100, 95)])?.isBelow).toBe(false);
  expect(firstComparison([pair(1000, 949)])?.isBelow).toBe(true);
});

test('compare: a figure with one bad pair of six is not flagged as worse, and the spread shows the bad ratio', () => {
  const pairs = [pair(100, 50), ...[100, 101, 102, 99, 98].map((value) => pair(100, value))];
  expect(firstComparison(pairs)).toMatchObject({ isBelow: false, median: 0.995 });
  expect(ratioTable(compare(pairs).comparisons)).toContain('0.500 … 1.020');
});

test('compare: ratios are computed inside each pair, so a machine that becomes slower for both commits does not change the ratios', () => {
  const { ratios } = firstComparison([pair(100, 90), pair(50, 45), pair(10, 9)])!;
  expect(ratios).toEqual([0.9, 0.9, 0.9]);
});

test('compare: zero in both commits is the ratio 1, and a cost that rises from zero is flagged', () => {
  expect(firstComparison([pair(0, 0, true)])).toMatchObject({ median: 1, isBelow: false });
  expect(firstComparison([pair(0, 5, true)])).toMatchObject({ median: 0, isBelow: true });
});

test('compare: a figure that one run of a pair lacks is compared in the remaining pairs', () => {
  const pairs = [pair(100, 90), { old: [figure(100)], new: [] }, pair(100, 94)];
  expect(firstComparison(pairs)?.ratios).toEqual([0.9, 0.94]);
  expect(compare(pairs)).toMatchObject({ onlyOld: [], onlyNew: [] });
});

test('compare: a figure that only one of the commits has is listed, not compared', () => {
  const pairs = [{ old: [figure(1, false, 'gone'), figure(1)], new: [figure(1), figure(1, false, 'added')] }];
  expect(compare(pairs)).toMatchObject({ comparisons: [{ name: 'x' }], onlyOld: ['gone'], onlyNew: ['added'] });
});

test('ratioTable shows for each figure the median ratio, its spread, the number of pairs, the values of both commits and a mark', () => {
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
