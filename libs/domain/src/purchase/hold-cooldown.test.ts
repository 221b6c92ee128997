import { assertNoCooldown, cooldownRules, countUnpaidHolds, type UnpaidHold } from './hold-cooldown.ts';

const MINUTE = 60_000;
const RULES = cooldownRules({ after: 3, holdSeconds: 600, cooldownSeconds: 600 })!;
const SECOND = 1 / 60;

/** Holds, each as the minutes from its begin to its end: `0-10 10-20`. */
const holdsOf = (text: string): UnpaidHold[] =>
  text.split(' ').flatMap((hold, index) => {
    const [from, to] = hold.split('-').map(Number);
    return from === undefined || to === undefined ? [] : [{ id: `r${index}`, fromMs: from * MINUTE, toMs: to * MINUTE }];
  });
const count = (holds: string, now: number) => countUnpaidHolds(holdsOf(holds), RULES, now * MINUTE);

const shortHold = (from: number): string => `${from}-${from + 10 * SECOND}`;
const shortHolds = (number: number): string => Array.from({ length: number }, (_, n) => shortHold(n)).join(' ');

test.each([
  ['no hold', '', undefined],
  ['two holds', '0-10 10-20', undefined],
  ['three holds, one after the other', '0-10 10-20 20-30', 40],
  ['the same in another order', '20-30 0-10 10-20', 40],
  ['three holds at the same time', '0-10 0-10 0-10', undefined],
  ['three holds that overlap by two seconds', `0-10 ${10 - 2 * SECOND}-19 ${19 - 2 * SECOND}-28`, undefined],
  ['three holds that overlap by half a second', `0-10 ${10 - SECOND / 2}-20 ${20 - SECOND / 2}-30`, 40],
  ['holds of two groups of seats by turns, so that there is always one', '0-10 5-15 10-20 15-25 20-30', 40],
  ['a long hold over three others', '0-9 1-2 3-4 5-6', 16],
  ['three holds of exactly 60 s', '0-1 1-2 2-3', 13],
  ['three holds, the last one a millisecond too short', `0-1 1-2 2-${3 - 1 / MINUTE}`, undefined],
  ['three holds within exactly an hour', '0-10 30-40 60-70', 80],
  ['three holds in more than an hour', `0-10 30-40 60-${70 + 1 / MINUTE}`, undefined],
  ['nine short holds', shortHolds(9), undefined],
  ['ten short holds', shortHolds(10), 9 + 10 * SECOND + 10],
  ['ten short holds at the same time', Array(10).fill(shortHold(0)).join(' '), undefined],
  [
    'ten holds of half a second at the same time',
    Array(10)
      .fill(`0-${SECOND / 2}`)
      .join(' '),
    undefined,
  ],
  ['eight short holds and two long ones', `${shortHolds(8)} 10-12 12-14`, 24],
])('cooldown after %s ends at minute %s', (_what, holds, end) => {
  const { cooldownEndsAtMs } = count(holds, 100);
  if (end === undefined) expect(cooldownEndsAtMs).toBeUndefined();
  else expect(cooldownEndsAtMs).toBeCloseTo(end * MINUTE);
});

describe('after a cooldown the count starts again at 0', () => {
  const first = '0-10 10-20 20-30';

  test('so two more unpaid holds begin no cooldown, and the third does', () => {
    expect(count(`${first} 40-42 42-44`, 45).cooldownEndsAtMs).toBe(40 * MINUTE);
    expect(count(`${first} 40-42 42-44 44-46`, 47).cooldownEndsAtMs).toBe(56 * MINUTE);
  });

  test('and holds that began before its end do not count', () => {
    const { remaining, countFromMs } = count(`${first} 29-39 31-41`, 42);
    expect([remaining.map(({ fromMs }) => fromMs / MINUTE), countFromMs]).toEqual([[31], 30 * MINUTE]);
  });
});

test('only holds of the last hour may still count', () => {
  expect(count('0-10 30-40', 71).remaining.map(({ toMs }) => toMs / MINUTE)).toEqual([40]);
});

test('a fan who holds again at once after each expiry is never without a cooldown for more than three holds', () => {
  let unpaid: readonly UnpaidHold[] = [];
  let countFromMs = Number.NEGATIVE_INFINITY;
  let heldMinutes = 0;
  for (let minute = 0; minute < 240; minute += 1) {
    const found = countUnpaidHolds(
      unpaid.filter(({ fromMs }) => fromMs >= countFromMs),
      RULES,
      minute * MINUTE,
    );
    if ((found.cooldownEndsAtMs ?? 0) > minute * MINUTE) continue;
    countFromMs = found.countFromMs ?? countFromMs;
    unpaid = [...found.remaining, ...holdsOf(`${minute}-${minute + 10}`)];
    heldMinutes += 10;
    minute += 9;
  }
  expect(heldMinutes).toBe(180);
});

test.each([
  ['half of a short hold', 20, 10_000],
  ['60 s', 600, 60_000],
])('a hold is long from %s on, if holds last %d s', (_what, holdSeconds, minHoldMs) => {
  expect(cooldownRules({ after: 3, holdSeconds, cooldownSeconds: 600 })).toEqual({ after: 3, minHoldMs, cooldownMs: 600_000 });
});

test('there is no cooldown after 0 holds', () => {
  expect(cooldownRules({ after: 0, holdSeconds: 600, cooldownSeconds: 600 })).toBeUndefined();
});

test('a hold in a cooldown is refused with its end and the seconds until then', () => {
  const refused = expect.objectContaining({
    code: 'HOLD_COOLDOWN',
    data: { until: '1970-01-01T00:10:00.000Z', retry_after_seconds: 2 },
  });
  expect(() => assertNoCooldown(600_000, 598_500)).toThrow(refused);
  for (const now of [600_000, 600_001]) expect(() => assertNoCooldown(600_000, now)).not.toThrow();
  expect(() => assertNoCooldown(undefined, 0)).not.toThrow();
});
