import type { FreeSeat } from './free-seat.ts';
import { nearestBlock } from './nearest-block.ts';

/** A drawing of rows: `.` is free, `c` was chosen and is gone, `f` was chosen and is free, anything else is taken. The middle of a row is its best. */
function drawn(...rows: string[]): { free: FreeSeat[]; chosen: FreeSeat[] } {
  const places = rows.flatMap((row, rowIndex) =>
    [...row].map((mark, index) => ({
      mark,
      seatId: `${rowIndex}-${index + 1}`,
      rowIndex,
      number: index + 1,
      rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2),
    })),
  );
  const marked = (marks: string): FreeSeat[] =>
    places.filter(({ mark }) => marks.includes(mark)).map(({ mark: _mark, ...place }) => place);
  return { free: marked('.f'), chosen: marked('cf') };
}

test.each<[string, string[], string[] | undefined]>([
  ['keeps those of the chosen that are still free', ['....ffc...'], ['0-4', '0-5', '0-6']],
  ['moves to the side the lost ones leave open', ['...fc.....'], ['0-3', '0-4']],
  ['the nearest of the row, not its best places', ['..xxxxcc..'], ['0-9', '0-10']],
  ['a row back before a long way to the side', ['..xxxxxccxx', '...........'], ['1-8', '1-9']],
  ['a few seats to the side before a row back', ['..xccx', '......'], ['0-1', '0-2']],
  ['both together, when they were chosen apart', ['cxxxxc', '......'], ['1-3', '1-4']],
  ['one in two rows: behind each other becomes side by side', ['..c..', '..c..'], ['0-1', '0-2']],
  ['a single seat: the nearest one', ['.xxcx.', 'xx.xxx'], ['0-6']],
  ['of two as near the one that leaves nobody alone', ['...xccx..'], ['0-8', '0-9']],
  ['nothing side by side: nothing is offered', ['.x.ccx.x'], undefined],
  ['fewer free than chosen: nothing is offered', ['.ccx'], undefined],
  ['nothing free: nothing is offered', ['cc'], undefined],
])('%s', (_what, rows, seatIds) => {
  const { free, chosen } = drawn(...rows);
  expect(nearestBlock(free, chosen)).toEqual(seatIds);
});

test('standing places are as good as each other', () => {
  const places = Array.from({ length: 6 }, (_, rank) => ({ seatId: `s${rank}`, rowIndex: 0, number: null, rank }));
  expect(nearestBlock(places.slice(2), places.slice(0, 3))).toEqual(['s2', 's3', 's4']);
  expect(nearestBlock(places.slice(4), places.slice(0, 3))).toBeUndefined();
});

/** Of every way to seat these people there, the one in which they move least. */
function leastMoves(chosen: readonly FreeSeat[], block: readonly FreeSeat[]): number {
  const [person, ...others] = chosen;
  if (!person) return 0;
  const moves = block.map((place, index) => {
    const move = Math.abs(place.rowIndex - person.rowIndex) * 3 + Math.abs((place.number ?? 0) - (person.number ?? 0));
    return move + leastMoves(others, block.toSpliced(index, 1));
  });
  return Math.min(...moves);
}

test('in 400 drawn sectors: free, side by side, and no other block is nearer', () => {
  let seed = 20_261_118;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  let offered = 0;
  for (let round = 0; round < 400; round += 1) {
    const rows = Array.from({ length: 4 }, () => Array.from({ length: 9 }, (): string => (random() < 0.55 ? '.' : 'x')));
    const quantity = 1 + Math.floor(random() * 4);
    for (let left = quantity; left > 0;) {
      const [row, at] = [Math.floor(random() * 4), Math.floor(random() * 9)];
      const mark = rows[row]?.[at] ?? 'c';
      if (!'.x'.includes(mark)) continue;
      (rows[row] ?? [])[at] = mark === '.' ? 'f' : 'c';
      left -= 1;
    }
    const { free, chosen } = drawn(...rows.map((row) => row.join('')));
    const found = nearestBlock(free, chosen);
    const all = free.flatMap((first) => {
      const block = Array.from({ length: quantity }, (_, step) =>
        free.find(({ rowIndex, number }) => rowIndex === first.rowIndex && number === (first.number ?? 0) + step),
      );
      return block.every((place) => place !== undefined) ? [block as FreeSeat[]] : [];
    });
    const offer = all.find((block) => block[0]?.seatId === found?.[0]);
    expect([round, offer?.map(({ seatId }) => seatId)]).toEqual([round, found]);
    if (all.length === 0) continue;
    offered += 1;
    const least = Math.min(...all.map((block) => leastMoves(chosen, block)));
    expect([round, offer && leastMoves(chosen, offer)]).toEqual([round, least]);
  }
  expect(offered).toBeGreaterThan(200);
});
