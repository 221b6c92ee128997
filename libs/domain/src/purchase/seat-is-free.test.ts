import { isSeatFree } from './seat-is-free.ts';
import { seatIsFreeCases } from './testing/seat-is-free.cases.ts';

const NOW_MS = Date.UTC(2026, 7, 1);

test.each(seatIsFreeCases)('isSeatFree of $seat is $isFree', ({ status, expiresInMs, isInQuota = false, isFree }) => {
  const expiresAtMs = expiresInMs === null ? null : NOW_MS + expiresInMs;
  expect(isSeatFree({ status, expiresAtMs, isInQuota }, NOW_MS)).toBe(isFree);
});
