import { afterAnswer, SeatMemory } from './known-seats.ts';
import type { Seat, SeatList } from './types.ts';

// The page's picture of a sector, and the answers it is corrected by.

const seat = (id: string, status: Seat['status'] = 'available'): Seat => ({ id, status, row: '1', number: 1, x: 0, y: 0 });
const known: SeatList = { version: 1, items: [seat('a'), seat('b'), seat('c', 'held')] };
const statuses = ({ items }: SeatList) => items.map(({ status }) => status).join();

test('changes are put into what is known, and what did not change stays the same object', () => {
  const items = [{ id: 'c', status: 'sold' as const }];
  const after = afterAnswer(known, { version: 2, since: 1, items });
  expect([statuses(after), after.version]).toEqual(['available,available,sold', 2]);
  expect([after.items[0] === known.items[0], after.items[2] === known.items[2]]).toEqual([true, false]);
});

test('no changes leave the very same picture, so that nothing is drawn', () => {
  expect(afterAnswer(known, { version: 1, since: 1, items: [] })).toBe(known);
});

test('a whole map is taken as it is, whatever was known', () => {
  const whole: SeatList = { version: 9, items: [seat('a', 'sold')] };
  expect([afterAnswer(known, whole), afterAnswer(undefined, whole)]).toEqual([whole, whole]);
});

test('the sectors looked at last are remembered, and not more than eight', () => {
  const memory = new SeatMemory();
  for (let sector = 1; sector <= 8; sector += 1) memory.keep(`${sector}`, { tag: `${sector}`, list: known });
  memory.keep('1', { tag: 'again', list: known });
  memory.keep('9', { tag: '9', list: known });
  expect(['1', '2', '9'].map((sector) => memory.of(sector)?.tag)).toEqual(['again', undefined, '9']);
});
