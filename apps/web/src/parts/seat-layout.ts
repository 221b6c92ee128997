import type { Seat } from '#contracts/seats';

/**
 * A seat with its coordinates in the drawing of a sector: rows are horizontal, row 1 is on top next to the pitch, seats are 10
 * units apart, rows 11 units.
 */
export interface SeatOnMap {
  seat: Seat;
  x: number;
  y: number;
}

/** One row of the drawing, with its name and its seats. */
export interface SeatRow {
  name: string;
  seats: SeatOnMap[];
}

/** The drawing of one sector: its size and its rows. */
export interface SeatLayout {
  rows: SeatRow[];
  width: number;
  height: number;
}

/** The distance between two neighbouring seats of a row, in units of the drawing. */
export const seatSpacing = 10;
const rowSpacing = 11;
/** Margins of the drawing, with space for the row names (left) and the pitch (top). */
const margin = { left: 16, right: 8, top: 20, bottom: 8 };

const naturalOrder = new Intl.Collator('en', { numeric: true });

/**
 * Turns stadium coordinates into a drawing of one sector. In stadium coordinates each sector has its own angle around the pitch,
 * so the sector is rotated until its rows are horizontal. The sector is never mirrored: a seat keeps its left and right
 * neighbours. Width and depth have different scales, because in metres a row is more than twice as deep as a seat is wide, and
 * half of a phone's screen would stay empty.
 */
export function layOutSeats(seats: Seat[]): SeatLayout {
  const rows = groupByRow(seats);
  const hasCoordinates = seats.every(
    (seat) => Number.isFinite(seat.x) && Number.isFinite(seat.y) && seat.x !== null && seat.y !== null,
  );
  const laidOut = hasCoordinates ? rotateUntilLevel(rows) : layOutAsGrid(rows);
  const scale = drawingScale(laidOut);
  const allSeats = laidOut.flatMap((row) => row.seats);
  const left = Math.min(...allSeats.map((seat) => seat.x));
  const top = Math.min(...allSeats.map((seat) => seat.y));
  for (const seat of allSeats) {
    seat.x = (seat.x - left) * scale.x + margin.left;
    seat.y = (seat.y - top) * scale.y + margin.top;
  }
  return {
    rows: laidOut,
    width: Math.max(...allSeats.map((seat) => seat.x)) + margin.right,
    height: Math.max(...allSeats.map((seat) => seat.y)) + margin.bottom,
  };
}

function groupByRow(seats: Seat[]): SeatRow[] {
  const byName = new Map<string, SeatOnMap[]>();
  for (const seat of seats) {
    const name = seat.row ?? '';
    const row = byName.get(name) ?? [];
    row.push({ seat, x: seat.x ?? 0, y: seat.y ?? 0 });
    byName.set(name, row);
  }
  const byNumber = (a: SeatOnMap, b: SeatOnMap) => (a.seat.number ?? 0) - (b.seat.number ?? 0);
  const rows = [...byName].map(([name, laidOut]) => ({ name, seats: laidOut.sort(byNumber) }));
  return rows.sort((a, b) => naturalOrder.compare(a.name, b.name));
}

function layOutAsGrid(rows: SeatRow[]): SeatRow[] {
  rows.forEach((row, y) => {
    row.seats.forEach((seat, x) => Object.assign(seat, { x, y }));
  });
  return rows;
}

function rotateUntilLevel(rows: SeatRow[]): SeatRow[] {
  const longest = rows.reduce((best, row) => (row.seats.length > best.seats.length ? row : best));
  const first = longest.seats[0];
  const last = longest.seats.at(-1);
  if (!first || !last) return rows;
  const angle = Math.atan2(last.y - first.y, last.x - first.x);
  rotate(rows, -angle);
  const [front, back] = [rows[0], rows.at(-1)];
  if (front && back && centreOf(front).y > centreOf(back).y) rotate(rows, Math.PI);
  return rows;
}

function rotate(rows: SeatRow[], angle: number): void {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (const { seats } of rows) {
    for (const seat of seats) [seat.x, seat.y] = [seat.x * cos - seat.y * sin, seat.x * sin + seat.y * cos];
  }
}

function centreOf({ seats }: SeatRow): { x: number; y: number } {
  const sum = seats.reduce((total, seat) => ({ x: total.x + seat.x, y: total.y + seat.y }), { x: 0, y: 0 });
  return { x: sum.x / seats.length, y: sum.y / seats.length };
}

/** The factors that convert the median distance between seats, and between rows, into the distances of the drawing. */
function drawingScale(rows: SeatRow[]): { x: number; y: number } {
  const seatDistances = rows.flatMap(({ seats }) =>
    seats.slice(1).map((seat, index) => Math.abs(seat.x - (seats[index]?.x ?? seat.x))),
  );
  const centres = rows.map(centreOf);
  const rowDistances = centres.slice(1).map((point, index) => Math.abs(point.y - (centres[index]?.y ?? point.y)));
  const [width, depth] = [median(seatDistances), median(rowDistances)];
  const x = width > 0 ? seatSpacing / width : depth > 0 ? rowSpacing / depth : 1;
  return { x, y: depth > 0 ? rowSpacing / depth : x };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * The seat that an arrow key, Home or End leads to, if there is one. Up and down lead to the horizontally nearest seat of the next
 * row.
 */
export function neighbourSeat(layout: SeatLayout, seatId: string, key: string): SeatOnMap | undefined {
  const rowIndex = layout.rows.findIndex((row) => row.seats.some(({ seat }) => seat.id === seatId));
  const row = layout.rows[rowIndex];
  const from = row?.seats.find(({ seat }) => seat.id === seatId);
  if (!row || !from) return undefined;
  // Sorted by x and not by number, because seat numbers may run from right to left.
  const leftToRight = row.seats.toSorted((a, b) => a.x - b.x);
  const index = leftToRight.indexOf(from);
  switch (key) {
    case 'ArrowLeft':
      return leftToRight[index - 1];
    case 'ArrowRight':
      return leftToRight[index + 1];
    case 'Home':
      return leftToRight[0];
    case 'End':
      return leftToRight.at(-1);
    case 'ArrowUp':
    case 'ArrowDown': {
      const next = layout.rows[rowIndex + (key === 'ArrowDown' ? 1 : -1)];
      return next?.seats.reduce((best, seat) => (Math.abs(seat.x - from.x) < Math.abs(best.x - from.x) ? seat : best));
    }
    default:
      return undefined;
  }
}
