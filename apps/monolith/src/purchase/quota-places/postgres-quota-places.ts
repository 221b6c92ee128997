import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { SeatViews } from '../availability/application/availability-reader.ts';
import type { SeatsFreed, SeatsMoving } from '../hold/application/ports.ts';
import {
  PlacesNotFree,
  type BoundPlaces,
  type Claim,
  type ClaimResult,
  type ClaimState,
  type FreePlace,
  type MovedPlaces,
  type PlaceCounts,
  type PlaceLabel,
  type PlaceMove,
  type PlaceOwner,
  type QuotaPlacesApi,
} from '../quota-places.api.ts';
import { READ_CLAIM_STATES } from './claim-places.sql.ts';
import type { ClaimPlaces } from './claim-places.ts';
import {
  BIND_PLACES,
  COUNT_PLACES_OF_MATCH,
  COUNT_PLACES_OF_QUOTAS,
  MOVE_PLACES,
  MOVE_UNLOCKED_PLACES,
  READ_FREE_PLACES,
  type FreePlacesOfSector,
  READ_LABELS_OF_PLACES,
  READ_SECTORS_OF_PLACES,
  UNBIND_PLACES,
  USE_ANY_INDEX,
  USE_PRIMARY_KEY,
} from './quota-places.sql.ts';

/** How long places that are about to move are not proposed to buyers. A move takes less; then `announce` ends it. */
const MOVING_MS = 5000;

/** The result of MOVE_PLACES. */
interface MoveResult {
  readonly sectorIds: readonly string[];
  readonly notFree: readonly string[];
}

/** Moves, binds and counts the places of quotas in PostgreSQL. `ClaimPlaces` holds them for fans. */
export class PostgresQuotaPlaces implements QuotaPlacesApi {
  constructor(
    private readonly dataSource: DataSource,
    private readonly views: SeatViews,
    private readonly seatChanges: SeatsFreed & SeatsMoving,
    private readonly claims: ClaimPlaces,
  ) {}

  async free(owner: {
    readonly matchId: string;
    readonly quotaId: PlaceOwner;
    readonly sectorIds?: readonly string[];
  }): Promise<readonly FreePlace[]> {
    const { matchId, quotaId, sectorIds = null } = owner;
    const statement = READ_FREE_PLACES.with({ matchId, quotaId, sectorIds });
    return (await runUnprepared<FreePlacesOfSector[]>(this.dataSource, statement)).flatMap(freePlaces);
  }

  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const statement = READ_SECTORS_OF_PLACES.with({ matchId, seatIds });
    const rows = await runUnprepared<{ seatId: string; sectorId: string }[]>(this.dataSource, statement);
    return new Map(rows.map(({ seatId, sectorId }) => [seatId, sectorId]));
  }

  async labelsOf(seatIds: readonly string[]): Promise<ReadonlyMap<string, PlaceLabel>> {
    const rows = await runUnprepared<PlaceLabel[]>(this.dataSource, READ_LABELS_OF_PLACES.with({ seatIds }));
    return new Map(rows.map((place) => [place.seatId, place]));
  }

  async move(tx: Transaction, { matchId, from, to, seatIds, boundTo }: PlaceMove): Promise<MovedPlaces> {
    const statement = MOVE_PLACES.with({ matchId, from, to, seatIds, boundTo: boundTo ?? null });
    const { notFree, sectorIds } = await moved(tx, statement);
    if (notFree.length > 0) throw new PlacesNotFree(seatIds.length - notFree.length, seatIds.length);
    return { matchId, sectorIds };
  }

  async moveFree(tx: Transaction, move: PlaceMove, { waits }: { readonly waits: boolean }): Promise<readonly string[]> {
    const statement = (waits ? MOVE_PLACES : MOVE_UNLOCKED_PLACES).with({ ...move, boundTo: move.boundTo ?? null });
    return (await moved(tx, statement)).notFree;
  }

  announceMoving(seatIds: Readonly<Record<string, readonly string[]>>): void {
    this.seatChanges.tellMoving(seatIds, Date.now() + MOVING_MS);
  }

  announce(moved: readonly MovedPlaces[]): void {
    for (const { matchId, sectorIds } of moved) {
      for (const sectorId of sectorIds) {
        this.views.invalidate(matchId, sectorId);
        this.seatChanges.tellFreed(sectorId);
      }
    }
  }

  async bind(tx: Transaction, quotaId: string, bound: readonly BoundPlaces[]): Promise<void> {
    const { seatIds, owners } = ownersOf(bound);
    if (seatIds.length === 0) return;
    const [row] = await byPrimaryKey<{ bound: number }>(tx, BIND_PLACES.with({ quotaId, seatIds, owners }));
    const count = row?.bound ?? 0;
    if (count < seatIds.length) throw new PlacesNotFree(count, seatIds.length);
  }

  async unbind(tx: Transaction, bound: readonly BoundPlaces[]): Promise<readonly string[]> {
    const { seatIds, owners } = ownersOf(bound);
    if (seatIds.length === 0) return [];
    const rows = await byPrimaryKey<{ seatId: string }>(tx, UNBIND_PLACES.with({ seatIds, owners }));
    return rows.map(({ seatId }) => seatId);
  }

  counts(of: { readonly matchId: string } | { readonly quotaIds: readonly string[] }): Promise<readonly PlaceCounts[]> {
    const statement = 'matchId' in of ? COUNT_PLACES_OF_MATCH.with(of) : COUNT_PLACES_OF_QUOTAS.with({ quotaIds: of.quotaIds });
    return runUnprepared<PlaceCounts[]>(this.dataSource, statement);
  }

  hold(tx: Transaction, claim: Claim): Promise<ClaimResult> {
    return this.claims.hold(tx, claim);
  }

  endHold(tx: Transaction, reservationId: string): Promise<'ended' | 'paid' | 'over'> {
    return this.claims.endHold(tx, reservationId);
  }

  async claimStates(ids: readonly string[], tx?: Transaction): Promise<ReadonlyMap<string, ClaimState>> {
    const statement = READ_CLAIM_STATES.with({ ids });
    const rows = tx
      ? await inside(tx).rows<{ id: string; state: ClaimState }>(statement)
      : await runUnprepared<{ id: string; state: ClaimState }[]>(this.dataSource, statement);
    return new Map(rows.map(({ id, state }) => [id, state]));
  }
}

/** Runs a statement that must find its rows by the primary key, and then allows all indexes again. */
async function byPrimaryKey<T>(tx: Transaction, statement: PreparedStatement): Promise<T[]> {
  // Sent together, in this order: no round trip is added.
  const [, rows] = await Promise.all([
    inside(tx).rows(USE_PRIMARY_KEY),
    inside(tx).rows<T>(statement),
    inside(tx).rows(USE_ANY_INDEX),
  ]);
  return rows;
}

/** Runs a statement that moves places. It has always one row. */
async function moved(tx: Transaction, statement: PreparedStatement): Promise<MoveResult> {
  return (await byPrimaryKey<MoveResult>(tx, statement))[0]!;
}

function freePlaces({ sectorId, ids, rows, numbers, rowIndices, ranks }: FreePlacesOfSector): FreePlace[] {
  return ids.map((seatId, at) => ({
    seatId,
    sectorId,
    row: rows[at] ?? null,
    number: numbers[at] ?? null,
    rowIndex: rowIndices[at]!,
    rank: ranks[at]!,
  }));
}

function ownersOf(bound: readonly BoundPlaces[]): { readonly seatIds: readonly string[]; readonly owners: string } {
  const owners = bound.flatMap(({ boundTo, seatIds }) => seatIds.map((seatId) => [seatId, boundTo] as const));
  return { seatIds: owners.map(([seatId]) => seatId), owners: JSON.stringify(Object.fromEntries(owners)) };
}
