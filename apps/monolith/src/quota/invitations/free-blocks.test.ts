import type { FreePlace } from '../../purchase/quota-places.api.ts';
import { FreeBlocks } from './free-blocks.ts';

/** Free places of a sector: one text for each row, `x` is free, `.` is not. Ranks ascend from row to row. */
const sector = (sectorId: string, rows: readonly string[]): FreePlace[] =>
  rows.flatMap((row, rowIndex) =>
    [...row].flatMap((seat, index) =>
      seat === 'x'
        ? [
            {
              seatId: `${sectorId}${rowIndex + 1}-${index + 1}`,
              sectorId,
              row: String(rowIndex + 1),
              number: index + 1,
              rowIndex,
              rank: rowIndex * 100 + index,
            },
          ]
        : [],
    ),
  );
const standing = (sectorId: string, count: number): FreePlace[] =>
  Array.from({ length: count }, (_, rank) => ({
    seatId: `${sectorId}${rank}`,
    sectorId,
    row: null,
    number: null,
    rowIndex: 0,
    rank,
  }));
const ids = (places: readonly FreePlace[] | undefined): string[] => (places ?? []).map(({ seatId }) => seatId).sort();

test.each<[what: string, rows: readonly string[], quantity: number, taken: readonly string[]]>([
  ['neighbours rather than all free seats of a row that are apart', ['x...x', 'xxxxx'], 2, ['A2-1', 'A2-2']],
  ['the shortest block that has enough', ['xxxxx', 'xx.xx', 'xxx'], 3, ['A3-1', 'A3-2', 'A3-3']],
  ['no block of which a single seat is left, if another one has enough', ['xxx', 'xxxx'], 2, ['A2-1', 'A2-2']],
  ['a single seat for one person', ['xxxx', 'xx.x'], 1, ['A2-4']],
  ['the better end of a block', ['.....', 'xxxxx'], 2, ['A2-1', 'A2-2']],
  ['the longest block and the nearest rest, if no block has enough', ['x.x.x', '.....', 'xx.x.'], 3, ['A3-1', 'A3-2', 'A3-4']],
])('an invitation takes %s', (_what, rows, quantity, taken) => {
  expect(ids(new FreeBlocks(sector('A', rows)).take(['A'], quantity)?.places)).toEqual(taken);
});

test('the invitations of a list never share a place, and fill the rows', () => {
  const blocks = new FreeBlocks(sector('A', ['xxxxxx', 'xxxxxx']));
  const taken = [2, 2, 2, 4, 2].map((quantity) => ids(blocks.take(['A'], quantity)?.places));
  expect(taken).toEqual([
    ['A1-1', 'A1-2'],
    ['A1-3', 'A1-4'],
    ['A1-5', 'A1-6'],
    ['A2-1', 'A2-2', 'A2-3', 'A2-4'],
    ['A2-5', 'A2-6'],
  ]);
  expect([blocks.left('A'), blocks.take(['A'], 1)]).toEqual([0, undefined]);
});

test('the places of an invitation are of one sector: the first one with neighbours, else the first one that has enough', () => {
  const blocks = new FreeBlocks([...sector('A', ['x.x']), ...sector('B', ['xx', 'x']), ...standing('C', 3)]);
  expect(blocks.take(['A', 'B'], 2)?.sectorId).toBe('B');
  expect(blocks.take(['A', 'B'], 2)?.sectorId).toBe('A');
  expect(blocks.take(['A', 'B'], 2)).toBeUndefined();
  expect(ids(blocks.take(['C'], 2)?.places)).toEqual(['C0', 'C1']);
});
