import { messageFor, positionTexts } from './fan-messages.ts';
import type { QueueState } from './fan-state.ts';
import { MessageAllowance } from './message-allowance.ts';
import { isSignificantMove, positionStep } from './position-steps.ts';
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
    ...changes,
  };
}

/** Windows of so many minutes, and their standard deviation. */
const measured = (mean: number, deviation = 1, windows = 100) => ({
  meanMs: mean * MINUTE,
  varianceS2: (deviation * 60) ** 2,
  windows,
});

describe('the estimate of a wait', () => {
  test.each([
    ['the first of a lone line waits within a minute', 1, queue(), 1, [1, 1]],
    ['before windows run out only the rate counts', 900, queue(), 2, [2, 2]],
    // 4,000 fans behind 1,000 free windows of 5 minutes each: 20 minutes, although the rate alone would need 9.
    ['behind the free windows their length counts', 5000, queue({ measured: measured(5) }), 20, [20, 21]],
    [
      'lengths that differ much, or were seen seldom, make the range wide',
      5000,
      queue({ measured: measured(5, 4, 4) }),
      20,
      [20, 31],
    ],
    ['with all windows taken the whole line waits for them', 500, queue({ openWindows: 1000, measured: measured(4) }), 2, [2, 3]],
    [
      'useful windows bound it where they are fewer',
      100,
      queue({ usefulWindows: 10, openWindows: 10, measured: measured(1) }),
      10,
      [10, 12],
    ],
    [
      'nobody is later than everybody using the whole window',
      100,
      queue({ maxOpenWindows: 1, openWindows: 1, measured: measured(19, 60, 1) }),
      1900,
      [1900, 2000],
    ],
  ])('%s', (_fact, position, state, minutes, range) => {
    expect(estimateWait(state, position, WINDOW_MS)).toEqual({ minutes, range });
  });

  test.each([
    ['paused', queue({ status: 'paused' })],
    ['scheduled', queue({ status: 'scheduled' })],
    ['closed', queue({ status: 'closed' })],
    ['without a window to give', queue({ maxOpenWindows: 0 })],
    ['without a window that could find a seat', queue({ usefulWindows: 0 })],
  ])('nothing is promised while the queue is %s', (_state, state) => {
    expect(estimateWait(state, 10, WINDOW_MS)).toBeNull();
  });

  test('nine of ten never wait less than half of the fans', () => {
    for (const minutes of [null, 0.02, 1, 19, 30]) {
      for (const position of [1, 7, 600, 25_000]) {
        const state = queue({ measured: minutes === null ? null : measured(minutes) });
        const { range } = estimateWait(state, position, WINDOW_MS)!;
        expect(range[1]).toBeGreaterThanOrEqual(range[0]);
      }
    }
  });
});

describe('which moves are told at once', () => {
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
  ])('from %i to %i: %s', (from, to, told) => {
    expect(isSignificantMove(from, to)).toBe(told);
  });

  test('a step is never in front of the fan', () => {
    for (let position = 1; position < 50_000; position += 37) expect(positionStep(position)).toBeGreaterThanOrEqual(position);
  });
});

describe('what a state is told as', () => {
  const around = { queue: queue(), checkoutUrl: 'http://shop/matches/m/checkout', purchaseWindowMs: WINDOW_MS };

  test('waiting: position, total and estimate', () => {
    expect(messageFor({ kind: 'waiting', position: 12 }, around)).toEqual({
      type: 'position_update',
      position: 12,
      total: 5000,
      estimated_wait_minutes: 1,
      estimated_wait_range: [1, 1],
    });
  });

  test('waiting in a paused queue: paused with the reason, and no estimate', () => {
    const paused = { ...around, queue: queue({ status: 'paused', reason: 'floodlights' }) };
    expect(messageFor({ kind: 'waiting', position: 12 }, paused)).toMatchObject({
      paused: true,
      reason: 'floodlights',
      estimated_wait_minutes: null,
      estimated_wait_range: null,
    });
  });

  test('waiting while only some sectors are left: which', () => {
    const left = [{ sectorId: 's', name: 'North', available: 4 }];
    expect(messageFor({ kind: 'waiting', position: 1 }, { ...around, queue: queue({ remainingSectors: left }) })).toMatchObject({
      remaining_sectors: [{ sector_id: 's', name: 'North', available: 4 }],
    });
  });

  test.each([
    ['active', queue({ measured: measured(5) })],
    ['paused', queue({ status: 'paused', reason: 'floodlights: "off"' })],
    ['almost sold out', queue({ remainingSectors: [{ sectorId: 's', name: 'Sjever "A" [1,2]', available: 4 }] })],
  ])('in a line that is %s the text for many is word by word the message for one', (_how, state) => {
    const textAt = positionTexts({ queue: state, purchaseWindowMs: WINDOW_MS });
    for (const position of [1, 7, 1000, 54_321])
      expect(textAt(position)).toBe(JSON.stringify(messageFor({ kind: 'waiting', position }, { ...around, queue: state })));
  });

  test('granted: until when, where to go, and the proof', () => {
    const granted = { kind: 'granted', expiresAt: '2026-11-18T12:00:00.000Z', sessionToken: 'st_x' } as const;
    expect(messageFor(granted, around)).toEqual({
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
    [{ kind: 'nowhere' } as const, undefined],
  ])('%j', (state, message) => {
    expect(messageFor(state, around)).toEqual(message);
  });
});

describe('the allowance of a socket', () => {
  test('ten messages in ten seconds pass, the eleventh does not, and time gives them back one by one', () => {
    const allowance = new MessageAllowance();
    for (let message = 0; message < 10; message += 1) expect(allowance.take(message * 100)).toBe(true);
    expect(allowance.take(1000)).toBe(false);
    expect(allowance.take(9999)).toBe(false);
    expect(allowance.take(10_000)).toBe(true);
    expect(allowance.take(10_050)).toBe(false);
    expect(allowance.take(10_100)).toBe(true);
  });
});
