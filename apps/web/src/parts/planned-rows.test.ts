import { groupRows } from './planned-rows.ts';

const row = (name: string, ranges: [number, number][], is_whole = true) => ({
  ...{ row: name, is_whole, quantity: ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0) },
  ranges: ranges.map(([from, to]) => ({ from, to })),
});
const shown = (rows: ReturnType<typeof row>[]) =>
  groupRows(rows).map(({ first, last, ranges, quantity, isWhole }) => `${first}–${last}: ${ranges} (${quantity}) ${isWhole}`);

test('consecutive rows with the same seats are one group', () => {
  expect(shown([row('9', [[1, 10]]), row('10', [[1, 10]]), row('11', [[1, 10]]), row('12', [[1, 9]], false)])).toEqual([
    '9–11: 1–10 (30) true',
    '12–12: 1–9 (9) false',
  ]);
});

test.each([
  ['a row is between them', [row('1', [[1, 10]]), row('3', [[1, 10]])]],
  ['their names are letters, so a row may be between them', [row('A', [[1, 10]]), row('B', [[1, 10]])]],
  ['one leaves free seats', [row('1', [[1, 10]]), row('2', [[1, 10]], false)]],
  ['their seats differ', [row('1', [[1, 10]]), row('2', [[2, 11]])]],
])('rows are groups of their own if %s', (_case, rows) => {
  expect(shown(rows)).toHaveLength(2);
});

test('a single seat and several ranges are written out', () => {
  expect(
    shown([
      row('1', [
        [1, 1],
        [4, 6],
      ]),
    ]),
  ).toEqual(['1–1: 1, 4–6 (4) true']);
});
