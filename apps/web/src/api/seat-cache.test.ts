import type { Seat, SeatList } from '#contracts/seats';
import { applySeatAnswer, SeatCache } from './seat-cache.ts';

const seat = (id: string, status: Seat['status'] = 'available'): Seat => ({ id, status, row: '1', number: 1, x: 0, y: 0 });
const cached: SeatList = { version: 1, items: [seat('a'), seat('b'), seat('c', 'held')] };
const statuses = ({ items }: SeatList) => items.map(({ status }) => status).join();

test('an answer with changes changes the cached seats that it names; every other seat stays the same object', () => {
  const items = [{ id: 'c', status: 'sold' as const }];
  const after = applySeatAnswer(cached, { version: 2, since: 1, items });
  expect([statuses(after), after.version]).toEqual(['available,available,sold', 2]);
  expect([after.items[0] === cached.items[0], after.items[2] === cached.items[2]]).toEqual([true, false]);
});

test('an answer without changes keeps the cached list object, so that React draws nothing again', () => {
  expect(applySeatAnswer(cached, { version: 1, since: 1, items: [] })).toBe(cached);
});

test('an answer with the full seat list replaces the cached seats', () => {
  const whole: SeatList = { version: 9, items: [seat('a', 'sold')] };
  expect([applySeatAnswer(cached, whole), applySeatAnswer(undefined, whole)]).toEqual([whole, whole]);
});

test('the cache keeps the eight sectors that were stored last', () => {
  const cache = new SeatCache();
  for (let sector = 1; sector <= 8; sector += 1) cache.store(`${sector}`, { etag: `${sector}`, list: cached });
  cache.store('1', { etag: 'again', list: cached });
  cache.store('9', { etag: '9', list: cached });
  expect(['1', '2', '9'].map((sector) => cache.get(sector)?.etag)).toEqual(['again', undefined, '9']);
});
