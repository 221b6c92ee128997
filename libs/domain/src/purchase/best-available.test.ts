import { chooseBest, type FreePlace } from './best-available.ts';

/** A drawing of rows: `.` is free, `x` is taken. Rank grows with the distance from the middle of the first row. */
function sector(...rows: string[]): FreePlace[] {
  return rows.flatMap((row, rowIndex) =>
    [...row].flatMap((mark, index) =>
      mark === '.'
        ? [
            {
              seatId: `${rowIndex}-${index + 1}`,
              rowIndex,
              number: index + 1,
              rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2) * 2,
            },
          ]
        : [],
    ),
  );
}

const first = () => 0;

test.each<[string, string[], number, string[] | undefined, boolean | undefined]>([
  ['two together in the middle of the first row', ['......'], 2, ['0-3', '0-4'], true],
  ['no single seat is left alone when another block avoids it', ['.....'], 2, ['0-1', '0-2'], true],
  ['a stranded seat if nothing else is together', ['...'], 2, ['0-1', '0-2'], true],
  ['a farther row rather than apart', ['.x.x.', '..xxx'], 2, ['1-1', '1-2'], true],
  ['apart, but near each other, if no row has enough', ['.x.x.', 'xxxx.'], 2, ['0-3', '0-1'], false],
  ['a single seat: the best one', ['.....'], 1, ['0-3'], true],
  ['fewer free than wanted: nothing', ['.x.'], 3, undefined, undefined],
])('%s', (_name, rows, quantity, seatIds, together) => {
  const choice = chooseBest(sector(...rows), quantity, first);
  expect(choice?.together).toBe(together);
  expect(choice && [...choice.seatIds].sort()).toEqual(seatIds && [...seatIds].sort());
});

test('a crowd is spread over different blocks', () => {
  const free = sector('....................', '....................');
  let seed = 0;
  const chosen = new Set(
    Array.from({ length: 50 }, () =>
      chooseBest(free, 2, () => ((seed = (seed * 16_807 + 11) % 2_147_483_647), seed / 2_147_483_647))?.seatIds.join(),
    ),
  );
  expect(chosen.size).toBeGreaterThan(5);
});

test('standing places are as many as are wanted', () => {
  const free = Array.from({ length: 30 }, (_, rank) => ({ seatId: `s${rank}`, rowIndex: 0, number: null, rank }));
  expect(chooseBest(free, 4, first)).toEqual({ seatIds: ['s0', 's1', 's2', 's3'], together: true });
});
