import { jest } from '@jest/globals';
import { learnServerTime, serverNow } from './server-clock.ts';

const now = Date.parse('2026-11-20T20:00:00Z');
const answeredAt = (date: number | undefined) =>
  new Response(null, { headers: date === undefined ? {} : { date: new Date(date).toUTCString() } });

beforeEach(() => void jest.useFakeTimers({ now }));
afterEach(() => void jest.useRealTimers());

test.each([
  ['three minutes slow', 180_000, 180_500],
  ['three minutes fast', -180_000, -179_500],
  ['right within the rounding of the Date header', 1_000, 0],
])('a clock that is %s', (_, serverAheadMs, offsetMs) => {
  learnServerTime(answeredAt(now + serverAheadMs), now);
  expect(serverNow() - now).toBe(offsetMs);
});

test('an answer without a Date header changes nothing', () => {
  learnServerTime(answeredAt(now + 180_000), now);
  learnServerTime(answeredAt(undefined), now);
  expect(serverNow() - now).toBe(180_500);
});

test('half of the way is taken for the way back', () => {
  learnServerTime(answeredAt(now + 180_000), now - 10_000);
  expect(serverNow() - now).toBe(185_500);
});
