import { LocalSlidingWindow } from './sliding-window.ts';

test('LocalSlidingWindow: a limit of 10 never accepts more than 10 requests in any 60 seconds, even across a full minute of the clock', () => {
  let now = 59_900;
  const limiter = new LocalSlidingWindow(() => now);
  const accepted: number[] = [];
  for (; now < 300_000; now += 100) if (limiter.take('fan', 10).allowed) accepted.push(now);
  const maxPerMinute = Math.max(
    ...accepted.map((from) => accepted.filter((time) => time >= from && time < from + 60_000).length),
  );
  expect([maxPerMinute, accepted.length]).toEqual([10, 41]);
});

test('LocalSlidingWindow: a refusal says after how many seconds the next request is allowed', () => {
  let now = 0;
  const limiter = new LocalSlidingWindow(() => now);
  limiter.take('fan', 2);
  now = 10_000;
  limiter.take('fan', 2);
  now = 20_500;
  expect(limiter.take('fan', 2)).toEqual({ allowed: false, limit: 2, remaining: 0, resetSeconds: 40 });
  now += 39_000;
  expect(limiter.take('fan', 2).allowed).toBe(false);
  now += 1000;
  expect(limiter.take('fan', 2)).toMatchObject({ allowed: true, remaining: 0 });
});

test('LocalSlidingWindow: with more than 10,000 callers, the callers whose last requests are the oldest are forgotten', () => {
  const limiter = new LocalSlidingWindow(() => 1000);
  for (let caller = 0; caller < 11_000; caller += 1) limiter.take(`caller ${caller}`, 1);
  expect(limiter.take('caller 10999', 1).allowed).toBe(false);
  expect(limiter.take('caller 0', 1).allowed).toBe(true);
});

test('LocalSlidingWindow: after `giveBack` of one request another request is allowed', () => {
  const limiter = new LocalSlidingWindow(() => 1000);
  expect(limiter.take('fan', 1).allowed).toBe(true);
  expect(limiter.take('fan', 1).allowed).toBe(false);
  limiter.giveBack('fan');
  expect(limiter.take('fan', 1).allowed).toBe(true);
});
