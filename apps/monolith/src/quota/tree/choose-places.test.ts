import type { FreePlace } from '../../purchase/quota-places.api.ts';
import { choosePlaces, strandedBy } from './choose-places.ts';

/** The free seats of a drawing of rows: `.` is free. The middle of a row has the best rank. The first row is at the pitch. */
function freeIn(...rows: readonly string[]): FreePlace[] {
  return rows.flatMap((row, rowIndex) =>
    [...row].flatMap((mark, index) =>
      mark === '.'
        ? [
            {
              seatId: `${rowIndex}-${index + 1}`,
              sectorId: 'A',
              row: String(rowIndex + 1),
              number: index + 1,
              rowIndex,
              rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2),
            },
          ]
        : [],
    ),
  );
}

/** The drawing with the chosen seats as `q`. */
function drawn(rows: readonly string[], quantity: number): string[] | undefined {
  const chosen = choosePlaces(freeIn(...rows), quantity);
  const ids = new Set(chosen?.map(({ seatId }) => seatId));
  const mark = (rowIndex: number) => (seat: string, index: number) => (ids.has(`${rowIndex}-${index + 1}`) ? 'q' : seat);
  return chosen && rows.map((row, rowIndex) => [...row].map(mark(rowIndex)).join(''));
}

test.each<[what: string, rows: string[], quantity: number, drawing: string[] | undefined]>([
  ['whole rows are taken first', ['....', '....', '....'], 8, ['qqqq', 'qqqq', '....']],
  ['what does not fill a row is one end of the next row', ['......', '......'], 9, ['qqqqqq', 'qqq...']],
  ['rows that add up exactly are taken, so that no row is cut', ['......', '....', '...'], 7, ['......', 'qqqq', 'qqq']],
  [
    'a row that has exactly the rest is taken, also if it is not beside the others',
    ['....', 'xx.......', '.x.'],
    6,
    ['qqqq', 'xx.......', 'qxq'],
  ],
  [
    'a row of which a part is sold counts as whole if all its free seats are taken',
    ['..xx..', '......'],
    4,
    ['qqxxqq', '......'],
  ],
  ['a small quota takes the run that it fills', ['..x......'], 2, ['qqx......']],
  ['no single seat is left beside the chosen ones', ['...x....'], 2, ['...xqq..']],
  ['a run that is used up leaves nobody alone', ['..x....'], 2, ['qqx....']],
  ['if no run has enough, runs that add up are taken', ['..x...x..'], 4, ['qqx...xqq']],
  ['if nothing adds up, the longest run and a part of another one', ['...x...'], 5, ['qqqxqq.']],
  ['rows beside each other win over better rows apart', ['....', 'xxxx', '....', '....'], 8, ['....', 'xxxx', 'qqqq', 'qqqq']],
  ['all free seats', ['.x.', 'x..'], 4, ['qxq', 'xqq']],
  ['more than are free: none', ['.x.'], 3, undefined],
])('%s', (_what, rows, quantity, drawing) => {
  expect(drawn(rows, quantity)).toEqual(drawing);
});

test('standing places are taken by rank', () => {
  const free = [4, 2, 9, 1].map((rank) => ({ seatId: `s${rank}`, sectorId: 'T', row: null, number: null, rowIndex: 0, rank }));
  expect(choosePlaces(free, 3)?.map(({ rank }) => rank)).toEqual([1, 2, 4]);
  expect(strandedBy(free, new Set(['s1']))).toBe(0);
});

test.each<[rows: string[], taken: string[], stranded: number]>([
  [['...'], ['0-2'], 2],
  [['...'], ['0-1'], 0],
  [['.x.'], [], 0],
  [['.x..'], ['0-3'], 1],
  [['..', '..'], ['0-1', '1-2'], 2],
])('stranded seats of %j after %j: %i', (rows, taken, stranded) => {
  expect(strandedBy(freeIn(...rows), new Set(taken))).toBe(stranded);
});

describe('in 500 random sectors', () => {
  let seed = 20_261_120;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const rounds = Array.from({ length: 500 }, () => {
    const share = 0.3 + random() * 0.7;
    const rows = Array.from({ length: 1 + Math.floor(random() * 8) }, () =>
      Array.from({ length: 1 + Math.floor(random() * 10) }, () => (random() < share ? '.' : 'x')).join(''),
    );
    const free = freeIn(...rows);
    return { rows, free, quantity: 1 + Math.floor(random() * Math.max(1, free.length)) };
  }).filter(({ free }) => free.length > 0);
  const freeOf = (row: string): number => [...row].filter((mark) => mark === '.').length;

  test('exactly so many free places are chosen, each once, and at most one row is cut', () => {
    for (const { rows, free, quantity } of rounds) {
      const chosen = choosePlaces(free, quantity) ?? [];
      const ids = new Set(chosen.map(({ seatId }) => seatId));
      expect([ids.size, chosen.length, chosen.every((place) => free.includes(place))]).toEqual([quantity, quantity, true]);
      const cut = rows.filter((row, index) => {
        const taken = chosen.filter(({ rowIndex }) => rowIndex === index).length;
        return taken > 0 && taken < freeOf(row);
      });
      expect(cut.length).toBeLessThanOrEqual(1);
    }
  });

  test('no row is cut if rows beside each other have exactly so many free places', () => {
    let exact = 0;
    for (const { rows, free, quantity } of rounds) {
      const counts = rows.map(freeOf).filter((count) => count > 0);
      const hasExact = counts.some((_count, from) => {
        const sums = counts.slice(from).map((_next, upTo) => counts.slice(from, from + upTo + 1).reduce((a, b) => a + b, 0));
        return sums.includes(quantity);
      });
      if (!hasExact) continue;
      exact += 1;
      const ids = new Set((choosePlaces(free, quantity) ?? []).map(({ seatId }) => seatId));
      for (const [index] of rows.entries()) {
        const inRow = free.filter(({ rowIndex }) => rowIndex === index);
        const taken = inRow.filter(({ seatId }) => ids.has(seatId)).length;
        expect([0, inRow.length]).toContain(taken);
      }
    }
    expect(exact).toBeGreaterThan(100);
  });

  test('in a cut row at most one single seat is left, and none if another end or run avoids it', () => {
    for (const { rows, free, quantity } of rounds) {
      const chosen = choosePlaces(free, quantity) ?? [];
      const stranded = strandedBy(free, new Set(chosen.map(({ seatId }) => seatId)));
      expect(stranded).toBeLessThanOrEqual(1);
      if (rows.length > 1 || stranded === 0) continue;
      // With one row every possible block can be tried.
      const blocks = free.flatMap((_first, start) => {
        const block = free.slice(start, start + quantity);
        const isBlock = block.length === quantity && (block.at(-1)?.number ?? 0) - (block[0]?.number ?? 0) === quantity - 1;
        return isBlock ? [strandedBy(free, new Set(block.map(({ seatId }) => seatId)))] : [];
      });
      expect(Math.min(...blocks, 1)).toBe(1);
    }
  });
});

test('the largest sector, 500 rows of 240 seats of which a third is sold, takes less than a second', () => {
  const rows = Array.from({ length: 500 }, (_, row) =>
    Array.from({ length: 240 }, (_unused, seat) => ((row * 7 + seat * 13) % 3 === 0 ? 'x' : '.')).join(''),
  );
  const free = freeIn(...rows);
  const begunAt = performance.now();
  expect(choosePlaces(free, 30_001)).toHaveLength(30_001);
  expect(performance.now() - begunAt).toBeLessThan(1000);
});
