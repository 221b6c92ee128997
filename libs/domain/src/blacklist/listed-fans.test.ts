import { ListedFans } from './listed-fans.ts';
import { assertEndsInFuture, blacklisted } from './blacklist-rules.ts';

const [ana, boris] = ['0190a000-0000-7000-8000-0000000000a1', '0190a000-0000-7000-8000-0000000000b1'];

test('ListedFans: a fan is on the blacklist until the entry ends; without an end, for ever', () => {
  const fans = new ListedFans();
  fans.replace(
    [
      { userId: ana, restMs: 1000 },
      { userId: boris, restMs: null },
    ],
    50,
  );
  const at = (nowMs: number) => [fans.has(ana, nowMs), fans.has(boris, nowMs)];
  expect([at(50), at(1049), at(1050), at(Number.MAX_SAFE_INTEGER)]).toEqual([
    [true, true],
    [true, true],
    [false, true],
    [false, true],
  ]);
  expect(fans.has('somebody else', 50)).toBe(false);
});

test('ListedFans: replace returns the fans who are new on the blacklist, including fans whose earlier entry has ended', () => {
  const fans = new ListedFans();
  expect(fans.replace([{ userId: ana, restMs: 100 }], 0)).toEqual([ana]);
  expect(fans.replace([{ userId: ana, restMs: 90 }], 10)).toEqual([]);
  expect(fans.replace([{ userId: ana, restMs: null }], 200)).toEqual([ana]);
  expect(fans.replace([{ userId: boris, restMs: 0 }], 200)).toEqual([boris]);
  expect([fans.has(ana, 200), fans.has(boris, 200)]).toEqual([false, false]);
});

test.each([
  ['has no end', null, true],
  ['ends a millisecond later', new Date(1001), true],
  ['ends now', new Date(1000), false],
  ['ended in the past', new Date(1), false],
])('assertEndsInFuture: a blacklist entry that %s (until %j): accepted = %s', (_what, until, isAccepted) => {
  const check = () => assertEndsInFuture({ until, now: new Date(1000) });
  if (isAccepted) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
});

test('the BLACKLISTED error does not contain the reason', () => {
  expect(blacklisted()).toMatchObject({ code: 'BLACKLISTED', data: {} });
});
