import { assertEndsLater, blacklisted, ListedFans } from './listed-fans.ts';

const [ana, boris] = ['0190a000-0000-7000-8000-0000000000a1', '0190a000-0000-7000-8000-0000000000b1'];

test('who is listed is on it until the time is up, on the clock that is handed in', () => {
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

test('a new list replaces the old one and names who is new on it, also who was on it once', () => {
  const fans = new ListedFans();
  expect(fans.replace([{ userId: ana, restMs: 100 }], 0)).toEqual([ana]);
  expect(fans.replace([{ userId: ana, restMs: 90 }], 10)).toEqual([]);
  expect(fans.replace([{ userId: ana, restMs: null }], 200)).toEqual([ana]);
  expect(fans.replace([{ userId: boris, restMs: 0 }], 200)).toEqual([boris]);
  expect([fans.has(ana, 200), fans.has(boris, 200)]).toEqual([false, false]);
});

test.each([
  ['without an end', null, true],
  ['ends a millisecond later', new Date(1001), true],
  ['ends now', new Date(1000), false],
  ['ended before', new Date(1), false],
])('an entry that %s', (_what, until, isFine) => {
  const check = () => assertEndsLater({ until, now: new Date(1000) });
  if (isFine) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
});

test('the refusal does not say why', () => {
  expect(blacklisted()).toMatchObject({ code: 'BLACKLISTED', data: {} });
});
