import { jest } from '@jest/globals';
import { measureServerClock, serverNow } from './server-clock.ts';

const now = Date.parse('2026-11-20T20:00:00Z');
const answeredAt = (date: number | undefined) =>
  new Response(null, { headers: date === undefined ? {} : { date: new Date(date).toUTCString() } });

beforeEach(() => void jest.useFakeTimers({ now }));
afterEach(() => void jest.useRealTimers());

test.each([
  ['three minutes slow', 180_000, 180_500],
  ['three minutes fast', -180_000, -179_500],
  ['right within the rounding of the Date header', 1_000, 0],
])('the offset to the server is measured for a browser clock that is %s', (_, serverAheadMs, offsetMs) => {
  measureServerClock(answeredAt(now + serverAheadMs), now);
  expect(serverNow() - now).toBe(offsetMs);
});

test('an answer without a Date header keeps the measured clock offset', () => {
  measureServerClock(answeredAt(now + 180_000), now);
  measureServerClock(answeredAt(undefined), now);
  expect(serverNow() - now).toBe(180_500);
});

test('the clock offset takes half of the round-trip time as the travel time of the answer', () => {
  measureServerClock(answeredAt(now + 180_000), now - 10_000);
  expect(serverNow() - now).toBe(185_500);
});
