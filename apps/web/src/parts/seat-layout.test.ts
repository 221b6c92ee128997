import type { Seat } from '#contracts/seats';
import { layOutSeats, type SeatLayout, neighbourSeat } from './seat-layout.ts';

/** Distances in stadium coordinates, in metres: seats of a row are 0.5 m apart, rows 0.8 m. */
const [seatWidth, rowDepth] = [0.5, 0.8];

interface BlockOptions {
  /** The rotation of the block around the pitch. */
  degrees?: number;
  /** Seat numbers run from right to left, seen with the pitch on top. */
  fromRight?: boolean;
  rows?: string[];
  perRow?: number;
}

/** A block of seats with the pitch above row 1, rotated to its location in the stadium. */
function block({ degrees = 0, fromRight = false, rows = ['1', '2', '3'], perRow = 5 }: BlockOptions = {}): Seat[] {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return rows.flatMap((row, rowIndex) =>
    Array.from({ length: perRow }, (_, column): Seat => {
      const [x, y] = [(fromRight ? -column : column) * seatWidth, rowIndex * rowDepth];
      const number = column + 1;
      return { id: `${row}-${number}`, row, number, status: 'available', x: 80 + x * cos - y * sin, y: 50 + x * sin + y * cos };
    }),
  );
}

const coordinatesOf = (layout: SeatLayout, id: string) => {
  const placed = layout.rows.flatMap(({ seats }) => seats).find(({ seat }) => seat.id === id);
  return { x: Math.round(placed?.x ?? Number.NaN), y: Math.round(placed?.y ?? Number.NaN) };
};

const angles = Array.from({ length: 24 }, (_, index) => index * 15);

test.each(angles)(
  'a block of seats rotated by %i° is drawn with the pitch on top, horizontal rows, and left and right unchanged',
  (degrees) => {
    const layout = layOutSeats(block({ degrees }));
    expect([
      coordinatesOf(layout, '1-1'),
      coordinatesOf(layout, '1-5'),
      coordinatesOf(layout, '3-1'),
      coordinatesOf(layout, '3-5'),
    ]).toEqual([
      { x: 16, y: 20 },
      { x: 56, y: 20 },
      { x: 16, y: 42 },
      { x: 56, y: 42 },
    ]);
  },
);

test.each(angles)(
  'a block of seats rotated by %i° whose numbers run from right to left is not mirrored in the drawing',
  (degrees) => {
    const layout = layOutSeats(block({ degrees, fromRight: true }));
    expect([coordinatesOf(layout, '1-1'), coordinatesOf(layout, '1-5'), coordinatesOf(layout, '3-1')]).toEqual([
      { x: 56, y: 20 },
      { x: 16, y: 20 },
      { x: 56, y: 42 },
    ]);
  },
);

test('the drawing of a sector has margins for the row names and the pitch', () => {
  const { width, height } = layOutSeats(block());
  expect([Math.round(width), Math.round(height)]).toEqual([64, 50]);
});

test('rows are sorted by number: row 10 comes after row 9', () => {
  const layout = layOutSeats(block({ rows: ['10', '9', '8'] }).map((seat) => ({ ...seat, x: null, y: null })));
  expect(layout.rows.map(({ name }) => name)).toEqual(['8', '9', '10']);
});

test('seats without coordinates are drawn as a grid by row and number', () => {
  const seats = block().map((seat) => ({ ...seat, x: null, y: null }));
  const layout = layOutSeats(seats.toReversed());
  expect([coordinatesOf(layout, '1-1'), coordinatesOf(layout, '1-2'), coordinatesOf(layout, '2-1')]).toEqual([
    { x: 16, y: 20 },
    { x: 26, y: 20 },
    { x: 16, y: 31 },
  ]);
});

test.each([false, true])('arrow keys move in the direction on screen (seat numbers run from right to left: %s)', (fromRight) => {
  const layout = layOutSeats(block({ degrees: 200, fromRight }));
  const press = (id: string, key: string) => neighbourSeat(layout, id, key)?.seat.id;
  const [left, right] = fromRight ? ['2-4', '2-2'] : ['2-2', '2-4'];
  const [first, last] = fromRight ? ['2-5', '2-1'] : ['2-1', '2-5'];
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'a', 'constructor'];
  expect(keys.map((key) => press('2-3', key))).toEqual([left, right, '1-3', '3-3', first, last, undefined, undefined]);
});

test('at the edge of the sector an arrow key finds no next seat', () => {
  const layout = layOutSeats(block());
  expect(neighbourSeat(layout, '1-1', 'ArrowLeft')).toBeUndefined();
  expect(neighbourSeat(layout, '1-5', 'ArrowRight')).toBeUndefined();
  expect(neighbourSeat(layout, '1-3', 'ArrowUp')).toBeUndefined();
  expect(neighbourSeat(layout, '3-3', 'ArrowDown')).toBeUndefined();
  expect(neighbourSeat(layout, 'unknown', 'ArrowLeft')).toBeUndefined();
});

test('the keys up and down lead to the horizontally nearest seat of the next row, even if that row is shorter', () => {
  const seats = block().filter(({ row, number }) => row !== '2' || (number ?? 0) >= 3);
  const layout = layOutSeats(seats);
  expect([neighbourSeat(layout, '1-1', 'ArrowDown')?.seat.id, neighbourSeat(layout, '1-4', 'ArrowDown')?.seat.id]).toEqual([
    '2-3',
    '2-4',
  ]);
});
