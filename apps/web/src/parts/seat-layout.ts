import type { Seat } from '../api/types.ts';

/** A seat on paper: rows lie level, row 1 on top next to the pitch, neighbours 10 units apart, rows 11. */
export interface SeatOnMap {
  seat: Seat;
  x: number;
  y: number;
}

export interface SeatRow {
  name: string;
  seats: SeatOnMap[];
}

export interface SeatLayout {
  rows: SeatRow[];
  width: number;
  height: number;
}

export const spacing = 10;
const rowSpacing = 11;
/** Room for the row names and for the pitch. */
const margin = { left: 16, right: 8, top: 20, bottom: 8 };

const natural = new Intl.Collator('en', { numeric: true });

/**
 * Stadium coordinates put each sector at its own angle around the pitch. People look at one sector at a time, so it is
 * turned (never mirrored: neighbours stay left and right) until its rows are level. Width and depth are then drawn each to
 * its own scale: in metres a row is more than twice as deep as a seat is wide, and half of a phone would show nothing.
 */
export function layOutSeats(seats: Seat[]): SeatLayout {
  const rows = inRows(seats);
  const known = seats.every((seat) => Number.isFinite(seat.x) && Number.isFinite(seat.y) && seat.x !== null && seat.y !== null);
  const placed = known ? level(rows) : grid(rows);
  const scale = scaleOf(placed);
  const all = placed.flatMap((row) => row.seats);
  const left = Math.min(...all.map((seat) => seat.x));
  const top = Math.min(...all.map((seat) => seat.y));
  for (const seat of all) {
    seat.x = (seat.x - left) * scale.x + margin.left;
    seat.y = (seat.y - top) * scale.y + margin.top;
  }
  return {
    rows: placed,
    width: Math.max(...all.map((seat) => seat.x)) + margin.right,
    height: Math.max(...all.map((seat) => seat.y)) + margin.bottom,
  };
}

function inRows(seats: Seat[]): SeatRow[] {
  const byName = new Map<string, SeatOnMap[]>();
  for (const seat of seats) {
    const row = byName.get(seat.row) ?? [];
    row.push({ seat, x: seat.x ?? 0, y: seat.y ?? 0 });
    byName.set(seat.row, row);
  }
  const rows = [...byName].map(([name, placed]) => ({ name, seats: placed.sort((a, b) => a.seat.number - b.seat.number) }));
  return rows.sort((a, b) => natural.compare(a.name, b.name));
}

function grid(rows: SeatRow[]): SeatRow[] {
  rows.forEach((row, y) => {
    row.seats.forEach((seat, x) => Object.assign(seat, { x, y }));
  });
  return rows;
}

function level(rows: SeatRow[]): SeatRow[] {
  const longest = rows.reduce((best, row) => (row.seats.length > best.seats.length ? row : best));
  const first = longest.seats[0];
  const last = longest.seats.at(-1);
  if (!first || !last) return rows;
  const angle = Math.atan2(last.y - first.y, last.x - first.x);
  turn(rows, -angle);
  const [front, back] = [rows[0], rows.at(-1)];
  if (front && back && middle(front).y > middle(back).y) turn(rows, Math.PI);
  return rows;
}

function turn(rows: SeatRow[], angle: number): void {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (const { seats } of rows) {
    for (const seat of seats) [seat.x, seat.y] = [seat.x * cos - seat.y * sin, seat.x * sin + seat.y * cos];
  }
}

function middle({ seats }: SeatRow): { x: number; y: number } {
  const sum = seats.reduce((total, seat) => ({ x: total.x + seat.x, y: total.y + seat.y }), { x: 0, y: 0 });
  return { x: sum.x / seats.length, y: sum.y / seats.length };
}

/** What makes the usual distance to a neighbour, and to the next row, the one we draw with. */
function scaleOf(rows: SeatRow[]): { x: number; y: number } {
  const aside = rows.flatMap(({ seats }) => seats.slice(1).map((seat, index) => Math.abs(seat.x - (seats[index]?.x ?? seat.x))));
  const middles = rows.map(middle);
  const behind = middles.slice(1).map((point, index) => Math.abs(point.y - (middles[index]?.y ?? point.y)));
  const [width, depth] = [median(aside), median(behind)];
  const x = width > 0 ? spacing / width : depth > 0 ? rowSpacing / depth : 1;
  return { x, y: depth > 0 ? rowSpacing / depth : x };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

type Step = 'left' | 'right' | 'up' | 'down' | 'rowStart' | 'rowEnd';

const steps = new Map<string, Step>([
  ['ArrowLeft', 'left'],
  ['ArrowRight', 'right'],
  ['ArrowUp', 'up'],
  ['ArrowDown', 'down'],
  ['Home', 'rowStart'],
  ['End', 'rowEnd'],
]);

/** What a key of the keyboard asks for; most ask for nothing. */
export const stepOfKey = (key: string): Step | undefined => steps.get(key);

/** Where an arrow key leads from this seat; in the next row to the seat straight ahead. */
export function seatBeside(layout: SeatLayout, seatId: string, step: Step): SeatOnMap | undefined {
  const rowIndex = layout.rows.findIndex((row) => row.seats.some(({ seat }) => seat.id === seatId));
  const row = layout.rows[rowIndex];
  const from = row?.seats.find(({ seat }) => seat.id === seatId);
  if (!row || !from) return undefined;
  // Numbers may run from right to left; the keys follow the eye.
  const across = row.seats.toSorted((a, b) => a.x - b.x);
  const index = across.indexOf(from);
  switch (step) {
    case 'left':
      return across[index - 1];
    case 'right':
      return across[index + 1];
    case 'rowStart':
      return across[0];
    case 'rowEnd':
      return across.at(-1);
    default: {
      const next = layout.rows[rowIndex + (step === 'down' ? 1 : -1)];
      return next?.seats.reduce((best, seat) => (Math.abs(seat.x - from.x) < Math.abs(best.x - from.x) ? seat : best));
    }
  }
}
