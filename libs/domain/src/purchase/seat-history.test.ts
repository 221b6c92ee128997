import { SeatHistory } from './seat-history.ts';

const seatVersion = (version: number) => ({ version, tag: `tag-${version}` });
const SEATS = 20;
/**
 * A history of the versions 1, 2, 3 …: the first argument lists the seats that changed from version 1 to 2, the second from 2 to 3,
 * …
 */
const historyOf = (...changes: number[][]): SeatHistory =>
  changes.reduce((history, changed, index) => history.with(seatVersion(index + 1), changed, SEATS), SeatHistory.none);

test('SeatHistory: the changes since a version are all later changes, each seat once, in order', () => {
  const history = historyOf([7, 3], [3], [1]);
  expect(['1', '2', '3'].map((version) => history.changedSince(version))).toEqual([[1, 3, 7], [1, 3], [1]]);
});

test('SeatHistory: a version is found by its number or its tag; the changes since an unknown version are undefined', () => {
  const history = historyOf([7, 3], [3]);
  expect(history.changedSince('tag-1')).toEqual([3, 7]);
  for (const unknown of ['0', '3', 'tag-3', '', '01']) expect(history.changedSince(unknown)).toBeUndefined();
  expect(SeatHistory.none.changedSince('1')).toBeUndefined();
});

test('SeatHistory: a seat that changed and changed back is among the changes, because a caller may have the state in between', () => {
  expect(historyOf([5], [5]).changedSince('2')).toEqual([5]);
});

test('SeatHistory: the oldest versions are dropped when more than half of the seats have changed, in several changes or in one', () => {
  const history = historyOf([0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [10]);
  expect([history.changedSince('1'), history.changedSince('2')]).toEqual([undefined, [4, 5, 6, 7, 8, 9, 10]]);
  expect(
    historyOf(
      [1],
      Array.from({ length: 11 }, (_, seatIndex) => seatIndex),
    ).changedSince('2'),
  ).toBeUndefined();
});
