/** A sector as an operator describes it when creating a match. */
export type SectorPlan =
  | { readonly kind: 'seated'; readonly rows: number; readonly seatsPerRow: number }
  | { readonly kind: 'standing'; readonly capacity: number };

/**
 * Where a seat is: its row and number in the sector, and its point (x, y) on the stadium map in metres. A standing place has none
 * of them.
 */
export interface SeatGeometry {
  readonly row: string | null;
  readonly number: number | null;
  readonly rowIndex: number;
  readonly x: number | null;
  readonly y: number | null;
  /** 0 is the best seat of its sector. Seats are offered in this order. */
  readonly rank: number;
}

/** Distance of the first row from the centre of the pitch in metres: half the pitch plus the strip beside it. */
const FIRST_ROW = { x: 62, y: 44 };
/** Metres from one row to the next. */
const ROW_DEPTH = 0.8;
/** The sectors form a ring. This part of each sector's angle stays empty as an aisle between sectors. */
const AISLE_SHARE = 0.06;

/** Number of seats or standing places of a planned sector. */
export function capacityOf(plan: SectorPlan): number {
  return plan.kind === 'seated' ? plan.rows * plan.seatsPerRow : plan.capacity;
}

/**
 * Creates the seats of a sector and arranges them in the sector's part of a ring around the pitch. Sector `index` of `count`
 * sectors gets an equal part of the ring's angle. Row 1 is next to the pitch. The best seat is in the middle of a row, one third
 * of the rows up.
 */
export function layOut(plan: SectorPlan, index: number, count: number): SeatGeometry[] {
  if (plan.kind === 'standing') {
    return Array.from({ length: plan.capacity }, (_, rank) => ({ row: null, number: null, rowIndex: 0, x: null, y: null, rank }));
  }
  const share = (2 * Math.PI) / count;
  const from = index * share + (share * AISLE_SHARE) / 2;
  const width = share * (1 - AISLE_SHARE);
  const seats = Array.from({ length: plan.rows }, (_, rowIndex) =>
    Array.from({ length: plan.seatsPerRow }, (_unused, seat) => {
      const angle = from + (width * (seat + 0.5)) / plan.seatsPerRow;
      return {
        row: String(rowIndex + 1),
        number: seat + 1,
        rowIndex,
        x: round((FIRST_ROW.x + rowIndex * ROW_DEPTH) * Math.cos(angle)),
        y: round((FIRST_ROW.y + rowIndex * ROW_DEPTH) * Math.sin(angle)),
        distance: focalDistance(rowIndex, seat, plan),
      };
    }),
  ).flat();
  const byQuality = [...seats].sort((a, b) => a.distance - b.distance || a.rowIndex - b.rowIndex || a.number - b.number);
  const ranks = new Map(byQuality.map((seat, rank) => [seat, rank]));
  return seats.map((seat) => {
    const { distance: _distance, ...facts } = seat;
    return { ...facts, rank: ranks.get(seat) ?? 0 };
  });
}

/** Distance of a seat from the best one. One row up or down counts as much as three seats to the side. */
function focalDistance(rowIndex: number, seat: number, plan: { rows: number; seatsPerRow: number }): number {
  const focalRow = Math.floor(plan.rows / 3);
  return Math.abs(rowIndex - focalRow) * 3 + Math.abs(seat - (plan.seatsPerRow - 1) / 2);
}

function round(metres: number): number {
  return Math.round(metres * 100) / 100;
}
