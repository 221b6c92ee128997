import { SectorMap, type Proposal } from './sector-map.ts';

interface Drawing {
  readonly map: SectorMap;
  /** Indices of the free seats. */
  readonly free: readonly number[];
  /** Names the proposed seats as `row-number`, for example `0-3`. */
  readonly seatNames: (proposal: Proposal | undefined) => string[] | undefined;
}

/** A sector map from drawn rows: `.` is a free seat, `x` a taken one. The best rank is in the middle of the first row. */
function sectorOf(...rows: string[]): Drawing {
  const seats = rows.flatMap((row, rowIndex) =>
    [...row].map((mark, index) => ({
      rowIndex,
      number: index + 1,
      rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2) * 2,
      mark,
    })),
  );
  const map = new SectorMap(seats);
  const free = seats.flatMap(({ mark }, seatIndex) => (mark === '.' ? seatIndex : []));
  map.markFree(free);
  return { map, free, seatNames: (proposal) => proposal?.seats.map((at) => `${seats[at]!.rowIndex}-${seats[at]!.number}`) };
}

/** Stands for `Math.random` and always gives 0, so the best block is drawn. */
const first = () => 0;

function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test.each<[string, string[], number, string[] | undefined, boolean | undefined]>([
  ['two seats together in the middle of the first row', ['......'], 2, ['0-3', '0-4'], true],
  ['a block that leaves no single seat alone, rather than the middle', ['.....'], 2, ['0-1', '0-2'], true],
  ['a block that leaves a single seat alone, if every free block does', ['...'], 2, ['0-1', '0-2'], true],
  ['seats together in a farther row, rather than separate seats', ['.x.x.', '..xxx'], 2, ['1-1', '1-2'], true],
  ['separate seats near each other, if no row has enough together', ['.x.x.', 'xxxx.'], 2, ['0-1', '0-3'], false],
  ['one seat at the end of three, so that no single seat is left alone', ['...x.'], 1, ['0-3'], true],
  ['one seat at the start of three, not in the middle', ['xx...'], 1, ['0-3'], true],
  ['nothing, if fewer seats are free than requested', ['.x.'], 3, undefined, undefined],
])('SectorMap proposes %s', (_name, rows, quantity, seats, together) => {
  const { map, seatNames } = sectorOf(...rows);
  const proposal = map.propose(quantity, first);
  expect(seatNames(proposal)?.sort()).toEqual(seats);
  expect(proposal?.together).toBe(together);
});

describe('SectorMap without a free block proposes seats near the best one; one row counts as far as three seats', () => {
  test.each<[string, string[], string[]]>([
    ['two seats away, rather than one row away', ['xxxx.x.xx', 'xxxx.xxxx'], ['0-5', '0-7']],
    ['one row away, rather than four seats away', ['xxxx.xxx.', 'xxxx.xxxx'], ['0-5', '1-5']],
    [
      'three seats away and one row away are equally far: the seat with the better rank',
      ['xxxx.xx.x', 'xxxx.xxxx'],
      ['0-5', '0-8'],
    ],
    ['two rows away, rather than seven seats away', ['x.xxxxxx.', 'xxxxxxxxx', 'x.xxxxxxx'], ['0-2', '2-2']],
    ['five seats away, rather than two rows away', ['x.xxxx.xx', 'xxxxxxxxx', 'x.xxxxxxx'], ['0-2', '0-7']],
    [
      'one row and one seat is as far as four seats: the seat with the better rank',
      ['x.xxx.xxx', 'xxxxx', 'xxxxx'],
      ['0-2', '0-6'],
    ],
    ['equally far to the left and to the right: the seat with the better rank', ['.xx.xx.xx'], ['0-4', '0-7']],
  ])('proposes the nearer seat: %s', (_name, rows, seats) => {
    const { map, seatNames } = sectorOf(...rows);
    const proposal = map.propose(2, first);
    expect([seatNames(proposal)?.sort(), proposal?.together]).toEqual([seats, false]);
  });

  test('rows in front of the best seat count as far as rows behind it', () => {
    const at = (rowIndex: number, number: number, rank: number) => ({ rowIndex, number, rank });
    // The best seat is in the third row. The seat in the first row is two rows away, the one in the fourth row one row and two
    // seats.
    const seats = [at(0, 5, 20), at(2, 5, 1), at(3, 7, 30)];
    const map = new SectorMap(seats);
    map.markFree(seats.keys());
    expect(map.propose(2, first)).toEqual({ seats: [1, 2], together: false });
  });
});

test('SectorMap: a proposed seat is not proposed again until it is marked as free', () => {
  const { map } = sectorOf('....');
  const proposal = map.propose(2, first);
  const nextProposal = map.propose(2, first);
  expect(new Set([...(proposal?.seats ?? []), ...(nextProposal?.seats ?? [])]).size).toBe(4);
  expect(map.propose(1, first)).toBeUndefined();
  map.markFree(proposal?.seats ?? []);
  expect(map.propose(2, first)).toEqual(proposal);
});

test('SectorMap: marking a seat twice, or an unknown seat, changes nothing', () => {
  const { map } = sectorOf('..');
  map.markFree([0, 0, 7]);
  map.markTaken([1, 1, -1]);
  expect(map.freeCount).toBe(1);
});

test('SectorMap: no seat is proposed while it is held, until the sector is sold out, also when some seats become free in between', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seeded(seed);
    const { map, free } = sectorOf('..........', '..........', '..........');
    const held = new Set<number>();
    for (let step = 0; step < 200 && held.size < free.length; step += 1) {
      if (random() < 0.2 && held.size > 0) {
        const freed = [...held].slice(0, 1 + Math.floor(random() * 3));
        for (const seatIndex of freed) held.delete(seatIndex);
        map.markFree(freed);
        continue;
      }
      const proposal = map.propose(1 + Math.floor(random() * 4), random);
      for (const seatIndex of proposal?.seats ?? []) {
        expect(held.has(seatIndex)).toBe(false);
        held.add(seatIndex);
      }
    }
    expect(map.freeCount).toBe(free.length - held.size);
  }
});

test('SectorMap: the proposed seats are together whenever any row has enough free seats together', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = seeded(seed * 7);
    const rows = Array.from({ length: 3 }, () => Array.from({ length: 8 }, () => (random() < 0.5 ? '.' : 'x')).join(''));
    const quantity = 2 + Math.floor(random() * 3);
    const { map, free } = sectorOf(...rows);
    const hasBlock = rows.some((row) => row.split('x').some((run) => run.length >= quantity));
    const together = free.length < quantity ? undefined : hasBlock;
    expect([rows, map.propose(quantity, random)?.together]).toEqual([rows, together]);
  }
});

test('SectorMap: any free standing places can be proposed together', () => {
  const map = new SectorMap(Array.from({ length: 9 }, (_, rank) => ({ rowIndex: 0, number: null, rank })));
  map.markFree(Array.from({ length: 9 }, (_, seatIndex) => seatIndex));
  expect(map.propose(4, first)).toEqual({ seats: [0, 1, 2, 3], together: true });
  expect(map.propose(4, first)?.seats).toEqual([4, 5, 6, 7]);
  map.markFree([1, 3, 5]);
  expect(map.propose(4, first)).toEqual({ seats: [1, 3, 5, 8], together: true });
});

test('SectorMap: a process that shares the sector proposes its own rows first, and rows of other processes rather than leave a single free seat', () => {
  const { map, seatNames } = sectorOf('....', '....', '...');
  const secondShare = { index: 1, of: 2 };
  expect(seatNames(map.propose(4, first, 1, secondShare))).toEqual(['1-1', '1-2', '1-3', '1-4']);
  expect(seatNames(map.propose(4, first, 1, secondShare))).toEqual(['0-1', '0-2', '0-3', '0-4']);
  expect(seatNames(map.propose(2, first, 1, secondShare))).toEqual(['2-1', '2-2']);
});

test.each([4, 16, 20])(
  'SectorMap: two processes that share a standing sector propose different places, in blocks of %s',
  (quantity) => {
    const seats = Array.from({ length: 960 }, (_, rank) => ({ rowIndex: 0, number: null, rank }));
    const proposed = [0, 1].flatMap((index) => {
      const map = new SectorMap(seats);
      map.markFree(seats.keys());
      const random = seeded(index + 1);
      const blocks = Array.from({ length: 240 / quantity }, () => map.propose(quantity, random, 12, { index, of: 2 }));
      return blocks.flatMap((block) => block?.seats ?? []);
    });
    expect([proposed.length, new Set(proposed).size]).toEqual([480, 480]);
  },
);
