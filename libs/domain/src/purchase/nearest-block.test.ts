import { nearestBlock, type FreeSeat } from './nearest-block.ts';

/**
 * Seats from a drawing of rows: `.` is free, `c` was chosen and is taken, `f` was chosen and is free, any other character is
 * taken. The middle of a row has the best rank.
 */
function seatsFrom(...rows: string[]): { free: FreeSeat[]; chosen: FreeSeat[] } {
  const seats = rows.flatMap((row, rowIndex) =>
    [...row].map((mark, index) => ({
      mark,
      seatId: `${rowIndex}-${index + 1}`,
      rowIndex,
      number: index + 1,
      rank: rowIndex * 100 + Math.abs(index - (row.length - 1) / 2),
    })),
  );
  const marked = (marks: string): FreeSeat[] =>
    seats.filter(({ mark }) => marks.includes(mark)).map(({ mark: _mark, ...seat }) => seat);
  return { free: marked('.f'), chosen: marked('cf') };
}

test.each<[string, string[], string[] | undefined]>([
  ['chosen seats that are still free are kept', ['....ffc...'], ['0-4', '0-5', '0-6']],
  ['the block moves to the side that is free', ['...fc.....'], ['0-3', '0-4']],
  ['the nearest block of the row wins over its best seats', ['..xxxxcc..'], ['0-9', '0-10']],
  ['one row back wins over many seats to the side', ['..xxxxxccxx', '...........'], ['1-8', '1-9']],
  ['a few seats to the side win over one row back', ['..xccx', '......'], ['0-1', '0-2']],
  ['two seats that were chosen apart become neighbours', ['cxxxxc', '......'], ['1-3', '1-4']],
  ['two seats behind each other become neighbours', ['..c..', '..c..'], ['0-1', '0-2']],
  ['a single seat becomes the nearest free one', ['.xxcx.', 'xx.xxx'], ['0-6']],
  ['of two equally near blocks, the one that leaves no single free seat wins', ['...xccx..'], ['0-8', '0-9']],
  ['nothing is offered without enough neighbouring seats', ['.x.ccx.x'], undefined],
  ['nothing is offered if fewer seats are free than were chosen', ['.ccx'], undefined],
  ['nothing is offered if no seat is free', ['cc'], undefined],
])('nearestBlock: %s', (_what, rows, seatIds) => {
  const { free, chosen } = seatsFrom(...rows);
  expect(nearestBlock(free, chosen)).toEqual(seatIds);
});

test('nearestBlock: in a standing sector any free places are offered, or none if there are fewer than were chosen', () => {
  const seats = Array.from({ length: 6 }, (_, rank) => ({ seatId: `s${rank}`, rowIndex: 0, number: null, rank }));
  expect(nearestBlock(seats.slice(2), seats.slice(0, 3))).toEqual(['s2', 's3', 's4']);
  expect(nearestBlock(seats.slice(4), seats.slice(0, 3))).toBeUndefined();
});

/** The smallest total distance from the chosen seats to the block. Tries every assignment of people to seats. */
function smallestDistance(chosen: readonly FreeSeat[], block: readonly FreeSeat[]): number {
  const [first, ...others] = chosen;
  if (!first) return 0;
  const distances = block.map((seat, index) => {
    const distance = Math.abs(seat.rowIndex - first.rowIndex) * 3 + Math.abs((seat.number ?? 0) - (first.number ?? 0));
    return distance + smallestDistance(others, block.toSpliced(index, 1));
  });
  return Math.min(...distances);
}

test('nearestBlock: in 400 random sectors the offered seats are free neighbours, and no block of free seats is nearer', () => {
  let seed = 20_261_118;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  let offered = 0;
  for (let round = 0; round < 400; round += 1) {
    const rows = Array.from({ length: 4 }, () => Array.from({ length: 9 }, (): string => (random() < 0.55 ? '.' : 'x')));
    const quantity = 1 + Math.floor(random() * 4);
    for (let unplaced = quantity; unplaced > 0;) {
      const [row, at] = [Math.floor(random() * 4), Math.floor(random() * 9)];
      const mark = rows[row]?.[at] ?? 'c';
      if (!'.x'.includes(mark)) continue;
      (rows[row] ?? [])[at] = mark === '.' ? 'f' : 'c';
      unplaced -= 1;
    }
    const { free, chosen } = seatsFrom(...rows.map((row) => row.join('')));
    const found = nearestBlock(free, chosen);
    const allBlocks = free.flatMap((first) => {
      const block = Array.from({ length: quantity }, (_, step) =>
        free.find(({ rowIndex, number }) => rowIndex === first.rowIndex && number === (first.number ?? 0) + step),
      );
      return block.every((seat) => seat !== undefined) ? [block as FreeSeat[]] : [];
    });
    const offer = allBlocks.find((block) => block[0]?.seatId === found?.[0]);
    expect([round, offer?.map(({ seatId }) => seatId)]).toEqual([round, found]);
    if (allBlocks.length === 0) continue;
    offered += 1;
    const smallest = Math.min(...allBlocks.map((block) => smallestDistance(chosen, block)));
    expect([round, offer && smallestDistance(chosen, offer)]).toEqual([round, smallest]);
  }
  expect(offered).toBeGreaterThan(200);
});
