import { limitedAddress } from './client-address.ts';
import { LocalSlidingWindow } from './sliding-window.ts';

test('never more than ten in any sixty seconds, whenever the minute turns', () => {
  let now = 59_900;
  const limiter = new LocalSlidingWindow(() => now);
  const accepted: number[] = [];
  for (; now < 300_000; now += 100) if (limiter.take('fan', 10).allowed) accepted.push(now);
  const mostWithin = Math.max(...accepted.map((from) => accepted.filter((time) => time >= from && time < from + 60_000).length));
  expect([mostWithin, accepted.length]).toEqual([10, 41]);
});

test('a refusal says when the next one is allowed, to the second', () => {
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

test('those who were quiet longest are forgotten, so that it does not grow for ever', () => {
  const limiter = new LocalSlidingWindow(() => 1000);
  for (let caller = 0; caller < 11_000; caller += 1) limiter.take(`caller ${caller}`, 1);
  expect(limiter.take('caller 10999', 1).allowed).toBe(false);
  expect(limiter.take('caller 0', 1).allowed).toBe(true);
});

test('what was given back is allowed again', () => {
  const limiter = new LocalSlidingWindow(() => 1000);
  expect(limiter.take('fan', 1).allowed).toBe(true);
  expect(limiter.take('fan', 1).allowed).toBe(false);
  limiter.giveBack('fan');
  expect(limiter.take('fan', 1).allowed).toBe(true);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:aaaa::1', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s is limited as %s', (ip, address) => {
  expect(limitedAddress(ip)).toBe(address);
});
