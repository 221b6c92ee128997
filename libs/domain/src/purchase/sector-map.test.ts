import { SectorMap, type Proposal } from './sector-map.ts';

interface Drawing {
  readonly map: SectorMap;
  readonly free: readonly number[];
  /** Places as row and number. */
  readonly names: (proposal: Proposal | undefined) => string[] | undefined;
}

/** A drawing of rows: `.` is free, `x` is taken. Rank grows with the distance from the middle of the first row. */
function drawn(...rows: string[]): Drawing {
  const places = rows.flatMap((row, rowIndex) =>
    [...row].map((mark, index) => ({
      rowIndex,
      number: index + 1,
      rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2) * 2,
      mark,
    })),
  );
  const map = new SectorMap(places);
  const free = places.flatMap(({ mark }, place) => (mark === '.' ? place : []));
  map.markFree(free);
  return { map, free, names: (proposal) => proposal?.seats.map((at) => `${places[at]!.rowIndex}-${places[at]!.number}`) };
}

const first = () => 0;

function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test.each<[string, string[], number, string[] | undefined, boolean | undefined]>([
  ['two together in the middle of the first row', ['......'], 2, ['0-3', '0-4'], true],
  ['no single seat is left alone when another block avoids it', ['.....'], 2, ['0-1', '0-2'], true],
  ['a stranded seat if nothing else is together', ['...'], 2, ['0-1', '0-2'], true],
  ['a farther row rather than apart', ['.x.x.', '..xxx'], 2, ['1-1', '1-2'], true],
  ['apart, but near each other, if no row has enough', ['.x.x.', 'xxxx.'], 2, ['0-1', '0-3'], false],
  ['one seat that leaves nobody alone', ['...x.'], 1, ['0-3'], true],
  ['not the middle of three', ['xx...'], 1, ['0-3'], true],
  ['fewer free than wanted: nothing', ['.x.'], 3, undefined, undefined],
])('%s', (_name, rows, quantity, seats, together) => {
  const { map, names } = drawn(...rows);
  const proposal = map.propose(quantity, first);
  expect(names(proposal)?.sort()).toEqual(seats);
  expect(proposal?.together).toBe(together);
});

describe('where no row has enough together, the places are near the best one: a row counts as much as three seats', () => {
  test.each<[string, string[], string[]]>([
    ['two seats away rather than a row away', ['xxxx.x.xx', 'xxxx.xxxx'], ['0-5', '0-7']],
    ['a row away rather than four seats away', ['xxxx.xxx.', 'xxxx.xxxx'], ['0-5', '1-5']],
    ['three seats away and a row away are as near: the better place', ['xxxx.xx.x', 'xxxx.xxxx'], ['0-5', '0-8']],
    ['two rows away rather than seven seats away', ['x.xxxxxx.', 'xxxxxxxxx', 'x.xxxxxxx'], ['0-2', '2-2']],
    ['five seats away rather than two rows away', ['x.xxxx.xx', 'xxxxxxxxx', 'x.xxxxxxx'], ['0-2', '0-7']],
    ['a row and a seat away is four seats away: the better place', ['x.xxx.xxx', 'xxxxx', 'xxxxx'], ['0-2', '0-6']],
    ['of two that are as far to the left and to the right, the better place', ['.xx.xx.xx'], ['0-4', '0-7']],
  ])('%s', (_name, rows, seats) => {
    const { map, names } = drawn(...rows);
    const proposal = map.propose(2, first);
    expect([names(proposal)?.sort(), proposal?.together]).toEqual([seats, false]);
  });

  test('rows before the best one are as far as those behind it', () => {
    const at = (rowIndex: number, number: number, rank: number) => ({ rowIndex, number, rank });
    // The best row is the third; the first one is two rows away, the fourth one row and two seats.
    const places = [at(0, 5, 20), at(2, 5, 1), at(3, 7, 30)];
    const map = new SectorMap(places);
    map.markFree(places.keys());
    expect(map.propose(2, first)).toEqual({ seats: [1, 2], together: false });
  });
});

test('what was proposed is not proposed again until it is put back', () => {
  const { map } = drawn('....');
  const one = map.propose(2, first);
  const other = map.propose(2, first);
  expect(new Set([...(one?.seats ?? []), ...(other?.seats ?? [])]).size).toBe(4);
  expect(map.propose(1, first)).toBeUndefined();
  map.markFree(one?.seats ?? []);
  expect(map.propose(2, first)).toEqual(one);
});

test('marking a seat twice, or one it does not know, changes nothing', () => {
  const { map } = drawn('..');
  map.markFree([0, 0, 7]);
  map.markTaken([1, 1, -1]);
  expect(map.freeCount).toBe(1);
});

test('a sector sells out seat by seat, every seat once, whatever comes back in between', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seeded(seed);
    const { map, free } = drawn('..........', '..........', '..........');
    const held = new Set<number>();
    for (let step = 0; step < 200 && held.size < free.length; step += 1) {
      if (random() < 0.2 && held.size > 0) {
        const back = [...held].slice(0, 1 + Math.floor(random() * 3));
        for (const place of back) held.delete(place);
        map.markFree(back);
        continue;
      }
      const proposal = map.propose(1 + Math.floor(random() * 4), random);
      for (const place of proposal?.seats ?? []) {
        expect(held.has(place)).toBe(false);
        held.add(place);
      }
    }
    expect(map.freeCount).toBe(free.length - held.size);
  }
});

test('together whenever any row has enough together', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = seeded(seed * 7);
    const rows = Array.from({ length: 3 }, () => Array.from({ length: 8 }, () => (random() < 0.5 ? '.' : 'x')).join(''));
    const quantity = 2 + Math.floor(random() * 3);
    const { map, free } = drawn(...rows);
    const anyRow = rows.some((row) => row.split('x').some((run) => run.length >= quantity));
    const together = free.length < quantity ? undefined : anyRow;
    expect([rows, map.propose(quantity, random)?.together]).toEqual([rows, together]);
  }
});

test('standing places are as many as are wanted, and never alone', () => {
  const map = new SectorMap(Array.from({ length: 9 }, (_, rank) => ({ rowIndex: 0, number: null, rank })));
  map.markFree(Array.from({ length: 9 }, (_, place) => place));
  expect(map.propose(4, first)).toEqual({ seats: [0, 1, 2, 3], together: true });
  expect(map.propose(4, first)?.seats).toEqual([4, 5, 6, 7]);
  map.markFree([1, 3, 5]);
  expect(map.propose(4, first)).toEqual({ seats: [1, 3, 5, 8], together: true });
});

test('who shares a sector looks at rows of its own first, and at the others before leaving anybody alone', () => {
  const { map, names } = drawn('....', '....', '...');
  const second = { index: 1, of: 2 };
  expect(names(map.propose(4, first, 1, second))).toEqual(['1-1', '1-2', '1-3', '1-4']);
  expect(names(map.propose(4, first, 1, second))).toEqual(['0-1', '0-2', '0-3', '0-4']);
  expect(names(map.propose(2, first, 1, second))).toEqual(['2-1', '2-2']);
});

test.each([4, 16, 20])(
  'processes that share a terrace do not propose each other the same places, by %s at a time',
  (quantity) => {
    const places = Array.from({ length: 960 }, (_, rank) => ({ rowIndex: 0, number: null, rank }));
    const proposed = [0, 1].flatMap((index) => {
      const map = new SectorMap(places);
      map.markFree(places.keys());
      const random = seeded(index + 1);
      const blocks = Array.from({ length: 240 / quantity }, () => map.propose(quantity, random, 12, { index, of: 2 }));
      return blocks.flatMap((block) => block?.seats ?? []);
    });
    expect([proposed.length, new Set(proposed).size]).toEqual([480, 480]);
  },
);
