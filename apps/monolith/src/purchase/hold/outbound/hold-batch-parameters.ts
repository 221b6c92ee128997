import { boolArray, ctidArray, hexBytes, int4Array, uuidArray } from '#platform/postgres/binary-parameters';
import type { SectorForSale } from '../../application/ports.ts';
import { requestedSeats } from '../application/ports.ts';
import { isInCooldown, type PendingHold } from './pending-holds.ts';
import type { SectorSnapshot } from './sector-snapshot.ts';

/** One hold request of a batch, with its proposed seats, as the statements HOLD_BATCH and WHY_NOT_HELD need it. */
export type HoldRow = Pick<PendingHold, 'request' | 'reservationId' | 'proposed' | 'together' | 'fan' | 'unpaid'> & {
  readonly snapshot: Pick<SectorSnapshot, 'idOf' | 'ctidOf'>;
};

/** The parameters of the SQL statement HOLD_BATCH, which holds the seats of a batch of requests. */
export type HoldBatchParameters = ReturnType<typeof holdBatchParameters>;
/** The parameters of the SQL statement WHY_NOT_HELD, which reads why requests of a batch were not held. */
export type WhyNotHeldParameters = ReturnType<typeof whyNotHeldParameters>;

/** Control characters that separate texts and stand for null. Schemas and JSON refuse them, so no text contains them. */
const SEPARATOR = '\u001e';
const NULL_TEXT = '\u001f';
/** More seats than any limit allows. */
const MORE_THAN_ANY_LIMIT = 2 ** 31 - 1;
/** A ctid that no row has. */
const NO_CTID = '(0,0)';
const NO_KEY = { key: '0'.repeat(32), fingerprint: '0'.repeat(32) };
const KEY_BYTES = 16;

/**
 * The parameters of HOLD_BATCH for a batch: one array for each property of the requests. Requests and sectors are numbered from
 * 1, as PostgreSQL numbers the elements of arrays.
 */
export function holdBatchParameters(rows: readonly HoldRow[], holdSeconds: number) {
  const known = rows
    .map((row, at) => ({ ...row.fan, ...row.unpaid, id: row.reservationId, index: at + 1 }))
    .filter(({ revision }) => revision > 0);
  const sectors: SectorForSale[] = [];
  const sectorNumbers = new Map<string, number>();
  for (const { request } of rows)
    if (!sectorNumbers.has(request.sector.id)) sectorNumbers.set(request.sector.id, sectors.push(request.sector));
  const keys = rows.map(({ request }) => request.idempotencyKey ?? NO_KEY);
  return {
    ...requestColumns(rows),
    reservationIds: uuidArray(rows.map((row) => row.reservationId)),
    sectorNumbers: int4Array(rows.map(({ request }) => sectorNumbers.get(request.sector.id)!)),
    seatsWithThese: int4Array(
      rows.map((row) => (isInCooldown(row) ? MORE_THAN_ANY_LIMIT : row.fan.taken + requestedSeats(row.request))),
    ),
    quantities: int4Array(rows.map(({ request }) => requestedSeats(request))),
    together: boolArray(rows.map((row) => row.together)),
    knownIndices: int4Array(known.map(({ index }) => index)),
    knownReservations: joinTexts(known.map(({ living, id }) => `{${[...living, id].join(',')}}`)),
    knownUnpaid: joinTexts(
      known.map(({ remaining }) => (remaining.length > 0 ? `{${remaining.map((hold) => hold.id).join(',')}}` : null)),
    ),
    knownUnpaidFrom: joinTexts(
      known.map(({ countFromMs }) => (countFromMs === undefined ? null : new Date(countFromMs).toISOString())),
    ),
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
  return { ...requestColumns(rows), matchIds: uuidArray(rows.map(({ request }) => request.sector.matchId)) };
}

/**
 * The parameters that both statements have. The proposed seats of all requests stand one after the other: `seatOwners` has the
 * number of each seat's request, `firstSeats` the position of each request's first seat.
 */
function requestColumns(rows: readonly HoldRow[]) {
  const seats = { owners: [] as number[], ids: [] as string[], ctids: [] as string[], firsts: [] as number[] };
  for (const [at, { proposed, snapshot }] of rows.entries()) {
    seats.firsts.push(seats.ids.length + 1);
    for (const seatIndex of proposed) {
      seats.owners.push(at + 1);
      seats.ids.push(snapshot.idOf(seatIndex));
      seats.ctids.push(snapshot.ctidOf(seatIndex) ?? NO_CTID);
    }
  }
  return {
    indices: int4Array(rows.map((_, at) => at + 1)),
    userIds: uuidArray(rows.map(({ request }) => request.userId)),
    revisions: int4Array(rows.map((row) => row.fan.revision)),
    sessionTokens: joinTexts(rows.map(({ request }) => request.sessionToken ?? null)),
    seatOwners: int4Array(seats.owners),
    seatIds: uuidArray(seats.ids),
    seatCtids: ctidArray(seats.ctids),
    firstSeats: int4Array(seats.firsts),
  };
}

/** Joins texts into one, which the SQL fragment `texts` splits: one text is much cheaper for PostgreSQL than a text[]. */
function joinTexts(values: readonly (string | null)[]): string {
  return values
    .map((value) => (value === null ? NULL_TEXT : value.replaceAll(SEPARATOR, ' ').replaceAll(NULL_TEXT, ' ')))
    .join(SEPARATOR);
}
