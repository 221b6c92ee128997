import { limitedAddress } from './client-address.ts';
import { LocalSlidingWindow } from './sliding-window.ts';

test('ten a minute are ten, also across the edge of a minute', () => {
  let now = 59_900;
  const limiter = new LocalSlidingWindow(() => now);
  const before = Array.from({ length: 12 }, () => limiter.take('fan', 10).allowed);
  now = 60_100;
  const after = Array.from({ length: 12 }, () => limiter.take('fan', 10).allowed);
  expect(before.filter(Boolean)).toHaveLength(10);
  expect(after.filter(Boolean)).toHaveLength(0);
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
