import { SeatHistory } from './seat-history.ts';

const picture = (version: number) => ({ version, tag: `tag-${version}` });
const SEATS = 20;
/** Pictures 1, 2, 3 … that differed at these places from the next. */
const historyOf = (...changes: number[][]): SeatHistory =>
  changes.reduce((history, changed, index) => history.with(picture(index + 1), changed, SEATS), SeatHistory.none);

test('what changed since a picture is the union of all steps after it, in order and once', () => {
  const history = historyOf([7, 3], [3], [1]);
  expect(['1', '2', '3'].map((version) => history.changedSince(version))).toEqual([[1, 3, 7], [1, 3], [1]]);
});

test('a picture is known by its version or by its tag, and no other is', () => {
  const history = historyOf([7, 3], [3]);
  expect(history.changedSince('tag-1')).toEqual([3, 7]);
  for (const stranger of ['0', '3', 'tag-3', '', '01']) expect(history.changedSince(stranger)).toBeUndefined();
  expect(SeatHistory.none.changedSince('1')).toBeUndefined();
});

test('a seat that changed and changed back is among the changes: the caller may have seen it in between', () => {
  expect(historyOf([5], [5]).changedSince('2')).toEqual([5]);
});

test('the oldest are forgotten when half of the seats have changed, also in one step', () => {
  const history = historyOf([0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [10]);
  expect([history.changedSince('1'), history.changedSince('2')]).toEqual([undefined, [4, 5, 6, 7, 8, 9, 10]]);
  expect(
    historyOf(
      [1],
      Array.from({ length: 11 }, (_, place) => place),
    ).changedSince('2'),
  ).toBeUndefined();
});
