import type { Seat } from '../api/types.ts';
import { layOutSeats, type SeatLayout, seatBeside, stepOfKey } from './seat-layout.ts';

/** Metres in the stadium: neighbours 0.5 apart, rows 0.8. */
const [seatWidth, rowDepth] = [0.5, 0.8];

interface Block {
  /** How far the block is turned around the pitch, in degrees. */
  turned?: number;
  /** Seat numbers run from right to left, seen with the pitch on top. */
  fromRight?: boolean;
  rows?: string[];
  perRow?: number;
}

/** A block with row 1 next to the pitch, which lies on top; then turned to its place in the stadium. */
function block({ turned = 0, fromRight = false, rows = ['1', '2', '3'], perRow = 5 }: Block = {}): Seat[] {
  const [cos, sin] = [Math.cos((turned * Math.PI) / 180), Math.sin((turned * Math.PI) / 180)];
  return rows.flatMap((row, depth) =>
    Array.from({ length: perRow }, (_, aside): Seat => {
      const [x, y] = [(fromRight ? -aside : aside) * seatWidth, depth * rowDepth];
      const number = aside + 1;
      return { id: `${row}-${number}`, row, number, status: 'available', x: 80 + x * cos - y * sin, y: 50 + x * sin + y * cos };
    }),
  );
}

const at = (layout: SeatLayout, id: string) => {
  const placed = layout.rows.flatMap(({ seats }) => seats).find(({ seat }) => seat.id === id);
  return { x: Math.round(placed?.x ?? Number.NaN), y: Math.round(placed?.y ?? Number.NaN) };
};

const angles = Array.from({ length: 24 }, (_, index) => index * 15);

test.each(angles)('a block turned by %i°: the pitch is on top, rows are level, seats keep left and right', (turned) => {
  const layout = layOutSeats(block({ turned }));
  expect([at(layout, '1-1'), at(layout, '1-5'), at(layout, '3-1'), at(layout, '3-5')]).toEqual([
    { x: 16, y: 20 },
    { x: 56, y: 20 },
    { x: 16, y: 42 },
    { x: 56, y: 42 },
  ]);
});

test.each(angles)('a block turned by %i° whose numbers run from right to left is not mirrored', (turned) => {
  const layout = layOutSeats(block({ turned, fromRight: true }));
  expect([at(layout, '1-1'), at(layout, '1-5'), at(layout, '3-1')]).toEqual([
    { x: 56, y: 20 },
    { x: 16, y: 20 },
    { x: 56, y: 42 },
  ]);
});

test('the drawing has room for the names of the rows and for the pitch', () => {
  const { width, height } = layOutSeats(block());
  expect([Math.round(width), Math.round(height)]).toEqual([64, 50]);
});

test('row 10 comes after row 9', () => {
  const layout = layOutSeats(block({ rows: ['10', '9', '8'] }).map((seat) => ({ ...seat, x: null, y: null })));
  expect(layout.rows.map(({ name }) => name)).toEqual(['8', '9', '10']);
});

test('seats without coordinates are drawn as a grid by row and number', () => {
  const seats = block().map((seat) => ({ ...seat, x: null, y: null }));
  const layout = layOutSeats(seats.toReversed());
  expect([at(layout, '1-1'), at(layout, '1-2'), at(layout, '2-1')]).toEqual([
    { x: 16, y: 20 },
    { x: 26, y: 20 },
    { x: 16, y: 31 },
  ]);
});

test.each([false, true])('arrow keys follow the eye, also where numbers run from right to left (%s)', (fromRight) => {
  const layout = layOutSeats(block({ turned: 200, fromRight }));
  const press = (id: string, key: string) => {
    const step = stepOfKey(key);
    return step && seatBeside(layout, id, step)?.seat.id;
  };
  const [left, right] = fromRight ? ['2-4', '2-2'] : ['2-2', '2-4'];
  const [first, last] = fromRight ? ['2-5', '2-1'] : ['2-1', '2-5'];
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'a', 'constructor'];
  expect(keys.map((key) => press('2-3', key))).toEqual([left, right, '1-3', '3-3', first, last, undefined, undefined]);
});

test('at the edges an arrow key leads nowhere', () => {
  const layout = layOutSeats(block());
  expect(seatBeside(layout, '1-1', 'left')).toBeUndefined();
  expect(seatBeside(layout, '1-5', 'right')).toBeUndefined();
  expect(seatBeside(layout, '1-3', 'up')).toBeUndefined();
  expect(seatBeside(layout, '3-3', 'down')).toBeUndefined();
  expect(seatBeside(layout, 'unknown', 'left')).toBeUndefined();
});

test('up and down lead to the seat straight ahead, in a shorter row to the nearest', () => {
  const seats = block().filter(({ row, number }) => row !== '2' || number >= 3);
  const layout = layOutSeats(seats);
  expect([seatBeside(layout, '1-1', 'down')?.seat.id, seatBeside(layout, '1-4', 'down')?.seat.id]).toEqual(['2-3', '2-4']);
});
