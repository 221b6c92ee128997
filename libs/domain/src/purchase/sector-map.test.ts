import type { FreePlace } from './free-place.ts';
import { SectorMap } from './sector-map.ts';

/** A drawing of rows: `.` is free, `x` is taken. Rank grows with the distance from the middle of the first row. */
function drawn(...rows: string[]): { map: SectorMap; free: FreePlace[] } {
  const places = rows.flatMap((row, rowIndex) =>
    [...row].map((mark, index) => ({
      seatId: `${rowIndex}-${index + 1}`,
      rowIndex,
      number: index + 1,
      rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2) * 2,
      mark,
    })),
  );
  const map = new SectorMap(places);
  const free = places.filter(({ mark }) => mark === '.');
  map.markFree(free.map(({ seatId }) => seatId));
  return { map, free };
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
])('%s', (_name, rows, quantity, seatIds, together) => {
  const proposal = drawn(...rows).map.propose(quantity, first);
  expect(proposal && [...proposal.seatIds].sort()).toEqual(seatIds);
  expect(proposal?.together).toBe(together);
});

test('what was proposed is not proposed again until it is put back', () => {
  const { map } = drawn('....');
  const one = map.propose(2, first);
  const other = map.propose(2, first);
  expect(new Set([...(one?.seatIds ?? []), ...(other?.seatIds ?? [])]).size).toBe(4);
  expect(map.propose(1, first)).toBeUndefined();
  map.markFree(one?.seatIds ?? []);
  expect(map.propose(2, first)?.seatIds).toEqual(one?.seatIds);
});

test('marking a seat twice, or one it does not know, changes nothing', () => {
  const { map } = drawn('..');
  map.markFree(['0-1', '0-1', 'elsewhere']);
  map.markTaken(['0-2', '0-2']);
  expect(map.freeCount).toBe(1);
});

test('a sector sells out seat by seat, every seat once, whatever comes back in between', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seeded(seed);
    const { map, free } = drawn('..........', '..........', '..........');
    const held = new Set<string>();
    for (let step = 0; step < 200 && held.size < free.length; step += 1) {
      if (random() < 0.2 && held.size > 0) {
        const back = [...held].slice(0, 1 + Math.floor(random() * 3));
        for (const seatId of back) held.delete(seatId);
        map.markFree(back);
        continue;
      }
      const proposal = map.propose(1 + Math.floor(random() * 4), random);
      for (const seatId of proposal?.seatIds ?? []) {
        expect(held.has(seatId)).toBe(false);
        held.add(seatId);
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
  const places = Array.from({ length: 9 }, (_, rank) => ({ seatId: `s${rank}`, rowIndex: 0, number: null, rank }));
  const map = new SectorMap(places);
  map.markFree(places.map(({ seatId }) => seatId));
  expect(map.propose(4, first)).toEqual({ seatIds: ['s0', 's1', 's2', 's3'], together: true });
  expect(map.propose(4, first)?.seatIds).toEqual(['s4', 's5', 's6', 's7']);
  map.markFree(['s1', 's3', 's5']);
  expect(map.propose(4, first)).toEqual({ seatIds: ['s1', 's3', 's5', 's8'], together: true });
});

test('who shares a sector looks at rows of its own first, and at the others before leaving anybody alone', () => {
  const { map } = drawn('....', '....', '...');
  const second = { index: 1, of: 2 };
  expect(map.propose(4, first, 1, second)?.seatIds).toEqual(['1-1', '1-2', '1-3', '1-4']);
  expect(map.propose(4, first, 1, second)?.seatIds).toEqual(['0-1', '0-2', '0-3', '0-4']);
  expect(map.propose(2, first, 1, second)?.seatIds).toEqual(['2-1', '2-2']);
});
