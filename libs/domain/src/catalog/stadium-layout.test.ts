import { capacityOf, layOut } from './stadium-layout.ts';

const plan = { kind: 'seated', rows: 12, seatsPerRow: 20 } as const;

test('layOut: every seat has a unique point, row and number, and every rank occurs once', () => {
  const seats = Array.from({ length: 8 }, (_, index) => layOut(plan, index, 8)).flat();
  expect(seats).toHaveLength(8 * capacityOf(plan));
  expect(new Set(seats.map(({ x, y }) => `${x},${y}`)).size).toBe(seats.length);
  const first = seats.slice(0, capacityOf(plan));
  expect(new Set(first.map(({ row, number }) => `${row}/${number}`)).size).toBe(first.length);
  expect(first.map(({ rank }) => rank).sort((a, b) => a - b)).toEqual(first.map((_, rank) => rank));
});

test('layOut: the best seat is in the middle of a row, the worst at an end', () => {
  const seats = [...layOut(plan, 0, 8)].sort((a, b) => a.rank - b.rank);
  expect(seats[0]?.number).toBe(10);
  expect([1, 20]).toContain(seats.at(-1)?.number);
});

test('layOut: standing places have no row, number or point', () => {
  expect(layOut({ kind: 'standing', capacity: 3 }, 0, 1)).toEqual(
    [0, 1, 2].map((rank) => ({ row: null, number: null, rowIndex: 0, x: null, y: null, rank })),
  );
});
