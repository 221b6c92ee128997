import { boolArray, hexBytes, int4Array, ctidArray, uuidArray } from '#platform/postgres/binary-parameters';
import type { HoldRow } from './hold-statement.ts';

/** Between texts, and in place of one that is not there. */
const SEPARATOR = '\u001e';
const NULL_TEXT = '\u001f';
/** The place of no row. */
const NOWHERE = '(0,0)';
const NO_KEY = { key: '0'.repeat(32), fingerprint: '0'.repeat(32) };
const KEY_BYTES = 16;

/** All seats of all wishes one after the other: whose, which, where their rows lay; and of each wish the first. */
interface Seats {
  readonly owners: number[];
  readonly ids: string[];
  readonly places: string[];
  readonly firsts: number[];
}

/** The rows as HOLD_BATCH takes them: one array a column. Wishes and sectors are counted from 1, as PostgreSQL's arrays are. */
export function holdParameters(rows: readonly HoldRow[], holdSeconds: number): unknown[] {
  const seats = seatsOf(rows);
  const known = rows
    .map((row, at) => ({ ...row.fan, id: row.reservationId, index: at + 1 }))
    .filter(({ revision }) => revision > 0);
  const numbers = new Map<string, number>();
  const sectors: HoldRow['sector'][] = [];
  for (const { sector } of rows) if (!numbers.has(sector.id)) numbers.set(sector.id, sectors.push(sector));
  const keys = rows.map(({ key }) => key ?? NO_KEY);
  return [
    int4Array(rows.map((_, at) => at + 1)),
    uuidArray(rows.map((row) => row.reservationId)),
    uuidArray(rows.map((row) => row.userId)),
    int4Array(rows.map(({ sector }) => numbers.get(sector.id)!)),
    int4Array(rows.map((row) => row.fan.taken + row.quantity)),
    texts(rows.map((row) => row.sessionToken)),
    int4Array(seats.owners),
    uuidArray(seats.ids),
    ctidArray(seats.places),
    int4Array(rows.map((row) => row.quantity)),
    int4Array(rows.map((row) => row.fan.revision)),
    int4Array(known.map(({ index }) => index)),
    texts(known.map(({ living, id }) => `{${[...living, id].join(',')}}`)),
    int4Array(seats.firsts),
    boolArray(rows.map((row) => row.together)),
    holdSeconds,
    hexBytes(
      keys.map(({ key }) => key),
      KEY_BYTES,
    ),
    hexBytes(
      keys.map(({ fingerprint }) => fingerprint),
      KEY_BYTES,
    ),
    uuidArray(sectors.map(({ id }) => id)),
    uuidArray(sectors.map(({ matchId }) => matchId)),
    int4Array(sectors.map(({ priceCents }) => priceCents)),
    sectors.map(({ name }) => name),
  ];
}

/** The same rows as WHY_NOT_HELD takes them. */
export function whyNotParameters(rows: readonly HoldRow[]): unknown[] {
  const seats = seatsOf(rows);
  return [
    int4Array(rows.map((_, at) => at + 1)),
    uuidArray(rows.map(({ sector }) => sector.matchId)),
    uuidArray(rows.map((row) => row.userId)),
    int4Array(rows.map((row) => row.fan.revision)),
    texts(rows.map((row) => row.sessionToken)),
    int4Array(seats.owners),
    uuidArray(seats.ids),
    ctidArray(seats.places),
  ];
}

function seatsOf(rows: readonly HoldRow[]): Seats {
  const seats: Seats = { owners: [], ids: [], places: [], firsts: [] };
  for (const [at, row] of rows.entries()) {
    seats.firsts.push(seats.ids.length + 1);
    for (const seat of row.seats) {
      seats.owners.push(at + 1);
      seats.ids.push(row.seatRows.idOf(seat));
      seats.places.push(row.seatRows.ctidOf(seat) ?? NOWHERE);
    }
  }
  return seats;
}

/** Texts, joined by a character that is in none of them (schemas and JSON refuse control characters); see TEXTS. */
function texts(values: readonly (string | null)[]): string {
  return values
    .map((value) => (value === null ? NULL_TEXT : value.replaceAll(SEPARATOR, ' ').replaceAll(NULL_TEXT, ' ')))
    .join(SEPARATOR);
}
