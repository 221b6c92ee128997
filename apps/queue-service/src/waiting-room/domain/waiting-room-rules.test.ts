import { messageFor, positionTexts } from './fan-messages.ts';
import type { QueueState } from './fan-state.ts';
import { MessageRateLimiter } from './message-rate-limiter.ts';
import { positionStep } from './position-steps.ts';
import { estimateWait } from './wait-estimate.ts';

const MINUTE = 60_000;
const WINDOW_MS = 20 * MINUTE;

function queue(changes: Partial<QueueState> = {}): QueueState {
  return {
    status: 'active',
    total: 5000,
    processingRate: 600,
    maxOpenWindows: 1000,
    usefulWindows: null,
    openWindows: 0,
    opensAt: null,
    reason: null,
    closedReason: null,
    remainingSectors: [],
    revision: 1,
    measured: null,
    granted: 0,
    completed: 0,
    expired: 0,
    epoch: '1',
    moves: 0,
    joins: 5000,
    isOpening: false,
    ...changes,
  };
}

/** The field `measured` of a QueueState, from the mean and the standard deviation of the window length in minutes. */
const measured = (mean: number, deviation = 1, windows = 100) => ({
  meanMs: mean * MINUTE,
  varianceS2: (deviation * 60) ** 2,
  windows,
});

describe('estimateWait', () => {
  test.each([
    ['the first fan of an idle queue waits at most a minute', 1, queue(), 1, [1, 1]],
    ['while windows are free, only the rate counts', 900, queue(), 2, [2, 2]],
    // 4,000 fans wait for 1,000 windows of 5 minutes each: 20 minutes. The admission rate alone would allow 9 minutes.
    ['behind the free windows, the window length counts', 5000, queue({ measured: measured(5) }), 20, [20, 21]],
    [
      'window lengths that vary much, or few measured windows, make the range wide',
      5000,
      queue({ measured: measured(5, 4, 4) }),
      20,
      [20, 31],
    ],
    [
      'with all windows taken, every fan waits for a window to end',
      500,
      queue({ openWindows: 1000, measured: measured(4) }),
      2,
      [2, 3],
    ],
    [
      'useful windows limit the pace when they are fewer than max_open_windows',
      100,
      queue({ usefulWindows: 10, openWindows: 10, measured: measured(1) }),
      10,
      [10, 12],
    ],
    [
      'the p90 never exceeds the case that every window is used in full',
      100,
      queue({ maxOpenWindows: 1, openWindows: 1, measured: measured(19, 60, 1) }),
      1900,
      [1900, 2000],
    ],
  ])('the estimated wait depends on rate, free windows and window lengths: %s', (_fact, position, state, minutes, range) => {
    expect(estimateWait(state, position, WINDOW_MS)).toEqual({ minutes, range });
  });

  test.each([
    ['paused', queue({ status: 'paused' })],
    ['scheduled', queue({ status: 'scheduled' })],
    ['closed', queue({ status: 'closed' })],
    ['limited to 0 open windows', queue({ maxOpenWindows: 0 })],
    ['limited to 0 useful windows', queue({ usefulWindows: 0 })],
  ])('the estimate is null while the queue is %s', (_state, state) => {
    expect(estimateWait(state, 10, WINDOW_MS)).toBeNull();
  });

  test('the pessimistic wait (p90) is never below the median wait (p50)', () => {
    for (const minutes of [null, 0.02, 1, 19, 30]) {
      for (const position of [1, 7, 600, 25_000]) {
        const state = queue({ measured: minutes === null ? null : measured(minutes) });
        const { range } = estimateWait(state, position, WINDOW_MS)!;
        expect(range[1]).toBeGreaterThanOrEqual(range[0]);
      }
    }
  });
});

describe('positionStep: a change of position is sent at once when the step changes', () => {
  test.each([
    [2, 1, true],
    [999, 998, true],
    [1000, 999, true],
    [1100, 1001, false],
    [1101, 1100, true],
    [9950, 9901, false],
    [40_000, 39_001, false],
    [39_001, 39_000, true],
    [10_000, 9999, false],
  ])('from position %i to position %i the step changes: %s', (from, to, expected) => {
    expect(positionStep(from) !== positionStep(to)).toBe(expected);
  });

  test('positionStep is never smaller than the position', () => {
    for (let position = 1; position < 50_000; position += 37) expect(positionStep(position)).toBeGreaterThanOrEqual(position);
  });
});

describe('messageFor', () => {
  const environment = { queue: queue(), checkoutUrl: 'http://shop/matches/m/checkout', purchaseWindowMs: WINDOW_MS };

  test('a waiting fan gets position, length of the line and estimated wait', () => {
    expect(messageFor({ kind: 'waiting', position: 12 }, environment)).toEqual({
      type: 'position_update',
      position: 12,
      total: 5000,
      estimated_wait_minutes: 1,
      estimated_wait_range: [1, 1],
    });
  });

  test('a waiting fan in a paused queue gets the reason of the pause, and no estimated wait', () => {
    const paused = { ...environment, queue: queue({ status: 'paused', reason: 'floodlights' }) };
    expect(messageFor({ kind: 'waiting', position: 12 }, paused)).toMatchObject({
      paused: true,
      reason: 'floodlights',
      estimated_wait_minutes: null,
      estimated_wait_range: null,
    });
  });

  test('a waiting fan gets the remaining sectors when they are known', () => {
    const remainingSectors = [{ sector_id: 's', name: 'North', available: 4 }];
    expect(messageFor({ kind: 'waiting', position: 1 }, { ...environment, queue: queue({ remainingSectors }) })).toMatchObject({
      remaining_sectors: [{ sector_id: 's', name: 'North', available: 4 }],
    });
  });

  test.each([
    ['active', queue({ measured: measured(5) })],
    ['paused', queue({ status: 'paused', reason: 'floodlights: "off"' })],
    ['almost sold out', queue({ remainingSectors: [{ sector_id: 's', name: 'Sjever "A" [1,2]', available: 4 }] })],
  ])('in a line that is %s, positionTexts gives the same text as JSON.stringify of messageFor', (_how, state) => {
    const textAt = positionTexts({ queue: state, purchaseWindowMs: WINDOW_MS });
    for (const position of [1, 7, 1000, 54_321])
      expect(textAt(position)).toBe(JSON.stringify(messageFor({ kind: 'waiting', position }, { ...environment, queue: state })));
  });

  test('a granted fan gets the end of the window, the checkout URL and the session token', () => {
    const granted = { kind: 'granted', expiresAt: '2026-11-18T12:00:00.000Z', sessionToken: 'st_x' } as const;
    expect(messageFor(granted, environment)).toEqual({
      type: 'turn_granted',
      purchase_window_expires_at: '2026-11-18T12:00:00.000Z',
      checkout_url: 'http://shop/matches/m/checkout',
      session_token: 'st_x',
    });
  });

  test.each([
    [{ kind: 'over', status: 'expired' } as const, { type: 'turn_expired' }],
    [{ kind: 'over', status: 'completed' } as const, { type: 'turn_completed' }],
    [{ kind: 'over', status: 'closed', reason: 'sold_out' } as const, { type: 'queue_closed', reason: 'sold_out' }],
    [{ kind: 'over', status: 'left' } as const, undefined],
    [{ kind: 'not_in_line' } as const, undefined],
  ])('a fan in the state %j gets the message %j', (state, message) => {
    expect(messageFor(state, environment)).toEqual(message);
  });
});

describe('MessageRateLimiter of one socket', () => {
  test('ten messages in ten seconds are allowed, the eleventh is not, and each message counts for ten seconds', () => {
    const limiter = new MessageRateLimiter();
    for (let message = 0; message < 10; message += 1) expect(limiter.take(message * 100)).toBe(true);
    expect(limiter.take(1000)).toBe(false);
    expect(limiter.take(9999)).toBe(false);
    expect(limiter.take(10_000)).toBe(true);
    expect(limiter.take(10_050)).toBe(false);
    expect(limiter.take(10_100)).toBe(true);
  });
});
