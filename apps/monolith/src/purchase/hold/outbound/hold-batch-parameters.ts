import { boolArray, ctidArray, hexBytes, int4Array, uuidArray } from '#platform/postgres/binary-parameters';
import type { SectorForSale } from '../../application/ports.ts';
import type { FanSeats } from './fan-seats.sql.ts';

/** One hold request of a batch, as the statements HOLD_BATCH and WHY_NOT_HELD need it. */
export interface HoldRow {
  readonly reservationId: string;
  readonly sector: Pick<SectorForSale, 'id' | 'matchId' | 'name' | 'priceCents'>;
  readonly userId: string;
  readonly sessionToken: string | null;
  /**
   * Indices of the proposed seats in their sector. Empty if no seat could be proposed: then only WHY_NOT_HELD runs, for the reason.
   */
  readonly seats: readonly number[];
  readonly seatRows: SeatRows;
  /** Number of seats asked for. */
  readonly quantity: number;
  readonly together: boolean;
  readonly fan: FanSeats;
  /** Idempotency key and fingerprint of the request: 32 hexadecimal digits each. */
  readonly key: { readonly key: string; readonly fingerprint: string } | null;
}

/** Finds the database rows of a sector's seats: by id, and by ctid (where PostgreSQL keeps the row). */
export interface SeatRows {
  idOf(seatIndex: number): string;
  /** The ctid of the seat's row at the last refresh of the snapshot; null for a seat that was not read. */
  ctidOf(seatIndex: number): string | null;
}

/** The parameters of the SQL statement HOLD_BATCH, which holds the seats of a batch of requests. */
export type HoldBatchParameters = ReturnType<typeof holdBatchParameters>;
/** The parameters of the SQL statement WHY_NOT_HELD, which reads why requests of a batch were not held. */
export type WhyNotHeldParameters = ReturnType<typeof whyNotHeldParameters>;

/** Control characters that separate texts and stand for null. Schemas and JSON refuse them, so no text contains them. */
const SEPARATOR = '\u001e';
const NULL_TEXT = '\u001f';
/** A ctid that no row has. */
const NO_CTID = '(0,0)';
const NO_KEY = { key: '0'.repeat(32), fingerprint: '0'.repeat(32) };
const KEY_BYTES = 16;

/**
 * The parameters of HOLD_BATCH for a batch: one array for each property of the requests. Requests and sectors are numbered from
 * 1, as PostgreSQL numbers the elements of arrays.
 */
export function holdBatchParameters(rows: readonly HoldRow[], holdSeconds: number) {
  const seats = seatColumns(rows);
  const known = rows
    .map((row, at) => ({ ...row.fan, id: row.reservationId, index: at + 1 }))
    .filter(({ revision }) => revision > 0);
  const sectors: HoldRow['sector'][] = [];
  const sectorNumbers = new Map<string, number>();
  for (const { sector } of rows) if (!sectorNumbers.has(sector.id)) sectorNumbers.set(sector.id, sectors.push(sector));
  const keys = rows.map(({ key }) => key ?? NO_KEY);
  return {
    indices: int4Array(rows.map((_, at) => at + 1)),
    reservationIds: uuidArray(rows.map((row) => row.reservationId)),
    userIds: uuidArray(rows.map((row) => row.userId)),
    sectorNumbers: int4Array(rows.map(({ sector }) => sectorNumbers.get(sector.id)!)),
    seatsWithThese: int4Array(rows.map((row) => row.fan.taken + row.quantity)),
    sessionTokens: joinTexts(rows.map((row) => row.sessionToken)),
    seatOwners: int4Array(seats.owners),
    seatIds: uuidArray(seats.ids),
    seatCtids: ctidArray(seats.ctids),
    firstSeats: int4Array(seats.firsts),
    quantities: int4Array(rows.map((row) => row.quantity)),
    together: boolArray(rows.map((row) => row.together)),
    revisions: int4Array(rows.map((row) => row.fan.revision)),
    knownIndices: int4Array(known.map(({ index }) => index)),
    knownReservations: joinTexts(known.map(({ living, id }) => `{${[...living, id].join(',')}}`)),
    keys: hexBytes(keys.map(({ key }) => key), KEY_BYTES), // prettier-ignore
    fingerprints: hexBytes(keys.map(({ fingerprint }) => fingerprint), KEY_BYTES), // prettier-ignore
    holdSeconds,
    sectorIds: uuidArray(sectors.map(({ id }) => id)),
    matchIds: uuidArray(sectors.map(({ matchId }) => matchId)),
    sectorPrices: int4Array(sectors.map(({ priceCents }) => priceCents)),
    sectorNames: sectors.map(({ name }) => name),
  };
}

/** The parameters of WHY_NOT_HELD for requests that were not held. */
export function whyNotHeldParameters(rows: readonly HoldRow[]) {
  const seats = seatColumns(rows);
  return {
    indices: int4Array(rows.map((_, at) => at + 1)),
    matchIds: uuidArray(rows.map(({ sector }) => sector.matchId)),
    userIds: uuidArray(rows.map((row) => row.userId)),
    revisions: int4Array(rows.map((row) => row.fan.revision)),
    sessionTokens: joinTexts(rows.map((row) => row.sessionToken)),
    seatOwners: int4Array(seats.owners),
    seatIds: uuidArray(seats.ids),
    seatCtids: ctidArray(seats.ctids),
  };
}

/** The seats of all requests, one after the other; `firsts` has the position of each request's first seat. */
function seatColumns(rows: readonly HoldRow[]) {
  const seats = { owners: [] as number[], ids: [] as string[], ctids: [] as string[], firsts: [] as number[] };
  for (const [at, row] of rows.entries()) {
    seats.firsts.push(seats.ids.length + 1);
    for (const seatIndex of row.seats) {
      seats.owners.push(at + 1);
      seats.ids.push(row.seatRows.idOf(seatIndex));
      seats.ctids.push(row.seatRows.ctidOf(seatIndex) ?? NO_CTID);
    }
  }
  return seats;
}

/** Joins texts into one, which the SQL fragment `texts` splits: one text is much cheaper for PostgreSQL than a text[]. */
function joinTexts(values: readonly (string | null)[]): string {
  return values
    .map((value) => (value === null ? NULL_TEXT : value.replaceAll(SEPARATOR, ' ').replaceAll(NULL_TEXT, ' ')))
    .join(SEPARATOR);
}
