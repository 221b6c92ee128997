import type { PlannedPlaces, RequestedPlaces } from '#contracts/quotas';
import { DomainError } from '#domain/shared/domain-error';
import type { FreePlace, PlaceOwner, QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { choosePlaces, runsOf, strandedBy } from './choose-places.ts';

/** What the choice of places has to know about a sector. The order of the sectors is that of the ring around the pitch. */
export interface SectorToPlan {
  readonly id: string;
  readonly capacity: number;
  readonly wheelchair: boolean;
}

/** The owner whose free places are chosen: a quota, or the public (null). */
export interface OwnerToPlan {
  readonly matchId: string;
  readonly quotaId: PlaceOwner;
}

/** The places that are taken of one sector. */
export interface PlannedSector {
  readonly sectorId: string;
  readonly free: readonly FreePlace[];
  readonly taken: readonly FreePlace[];
}

/** Like `planPlaces`, with the places that are free for the owner now. */
export async function planFreePlaces(
  places: Pick<QuotaPlacesApi, 'free' | 'sectorsOf'>,
  owner: OwnerToPlan,
  requested: RequestedPlaces,
  sectors: readonly SectorToPlan[],
): Promise<readonly PlannedSector[]> {
  const free = await places.free(owner);
  const isFree = new Set(free.map(({ seatId }) => seatId));
  const notFree = namedIn(requested).filter((id) => !isFree.has(id));
  const sectorOfTaken = notFree.length > 0 ? await places.sectorsOf(owner.matchId, notFree) : undefined;
  return planPlaces(requested, free, sectors, sectorOfTaken);
}

const namedIn = (requested: RequestedPlaces): string[] => requested.flatMap((item) => ('seat_ids' in item ? item.seat_ids : []));

const MAX_IDS_SHOWN = 100;

/**
 * Chooses the requested places of the free ones. Named places are taken first, then quantities of a sector, then quantities of any
 * sectors. Throws `QUOTA_EXCEEDED` if too few are free, and `NOT_FOUND` for a sector or place of another match. `sectorOfTaken`: seat id
 * → sector of the named places that are not free.
 */
export function planPlaces(
  requested: RequestedPlaces,
  free: readonly FreePlace[],
  sectors: readonly SectorToPlan[],
  sectorOfTaken: ReadonlyMap<string, string> = new Map(),
): readonly PlannedSector[] {
  const plan = new Plan(free, sectors);
  plan.takeNamed(namedIn(requested), sectorOfTaken);
  const bySector = new Map<string, number>();
  for (const item of requested)
    if ('sector_id' in item) bySector.set(item.sector_id, (bySector.get(item.sector_id) ?? 0) + item.quantity);
  for (const [sectorId, quantity] of bySector) plan.takeOfSector(sectorId, quantity);
  const anywhere = requested.reduce(
    (sum, item) => sum + (!('seat_ids' in item) && !('sector_id' in item) ? item.quantity : 0),
    0,
  );
  if (anywhere > 0) plan.takeAnywhere(anywhere);
  return plan.sectors();
}

class Plan {
  private readonly free = new Map<string, FreePlace[]>();
  private readonly taken = new Map<string, FreePlace[]>();
  private readonly takenIds = new Set<string>();

  constructor(
    private readonly all: readonly FreePlace[],
    private readonly known: readonly SectorToPlan[],
  ) {
    for (const place of all) {
      const places = this.free.get(place.sectorId);
      if (places) places.push(place);
      else this.free.set(place.sectorId, [place]);
    }
  }

  takeNamed(seatIds: readonly string[], sectorOfTaken: ReadonlyMap<string, string>): void {
    const placeOf = new Map(this.all.map((place) => [place.seatId, place]));
    const notFree = seatIds.filter((id) => !placeOf.has(id));
    if (notFree.some((id) => !sectorOfTaken.has(id))) throw new DomainError('NOT_FOUND', 'This match has no such place.');
    const sectorId = sectorOfTaken.get(notFree[0] ?? '');
    if (sectorId) throw exceeded(this.left(sectorId).length, { sectorId, seatIds: notFree.slice(0, MAX_IDS_SHOWN) });
    for (const id of seatIds) this.take([placeOf.get(id)!]);
  }

  takeOfSector(sectorId: string, quantity: number): void {
    if (!this.known.some(({ id }) => id === sectorId)) throw new DomainError('NOT_FOUND', 'This match has no such sector.');
    const free = this.left(sectorId);
    const chosen = choosePlaces(free, quantity);
    if (!chosen) throw exceeded(free.length, { sectorId });
    this.take(chosen);
  }

  /**
   * Takes whole sectors first and then a part of the sector that fits best. Sectors that nobody has a place of come before others,
   * then those near the ones that are taken already: visitors get a part of the stadium of their own if there is one.
   */
  takeAnywhere(quantity: number): void {
    const available = this.known.reduce((sum, { id, wheelchair }) => sum + (wheelchair ? 0 : this.left(id).length), 0);
    if (available < quantity) throw exceeded(available, {});
    for (let missing = quantity; missing > 0;) {
      const { id, free } = this.bestSector(missing);
      const part = Math.min(missing, free);
      this.takeOfSector(id, part);
      missing -= part;
    }
  }

  sectors(): readonly PlannedSector[] {
    const free = (sectorId: string): readonly FreePlace[] => this.free.get(sectorId) ?? [];
    return [...this.taken].map(([sectorId, taken]) => ({ sectorId, free: free(sectorId), taken }));
  }

  /** The sector to take places of: the smallest one that has enough, else the largest one. */
  private bestSector(missing: number): { id: string; free: number } {
    const candidates = this.known.flatMap(({ id, wheelchair, capacity }, position) => {
      const free = this.left(id).length;
      if (wheelchair || free === 0) return [];
      const isTouched = free < capacity && !this.taken.has(id) ? 1 : 0;
      return [{ id, free, cost: [free >= missing ? 0 : 1, isTouched, Math.abs(free - missing), this.distance(position)] }];
    });
    const isBetter = (a: readonly number[], b: readonly number[]): boolean => {
      const at = a.findIndex((cost, index) => cost !== b[index]);
      return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
    };
    return candidates.reduce((best, next) => (isBetter(next.cost, best.cost) ? next : best));
  }

  /** How many sectors away the nearest sector with taken places is, around the ring. */
  private distance(position: number): number {
    const distances = this.known.flatMap(({ id }, other) => {
      const away = Math.abs(position - other);
      return this.taken.has(id) ? Math.min(away, this.known.length - away) : [];
    });
    return Math.min(...distances, this.known.length);
  }

  private left(sectorId: string): readonly FreePlace[] {
    return (this.free.get(sectorId) ?? []).filter(({ seatId }) => !this.takenIds.has(seatId));
  }

  private take(places: readonly FreePlace[]): void {
    for (const place of places) {
      this.takenIds.add(place.seatId);
      const taken = this.taken.get(place.sectorId);
      if (taken) taken.push(place);
      else this.taken.set(place.sectorId, [place]);
    }
  }
}

function exceeded(available: number, { sectorId, seatIds }: { sectorId?: string; seatIds?: readonly string[] }): DomainError {
  const data = { ...(sectorId ? { sector_id: sectorId } : {}), available, ...(seatIds ? { seat_ids: seatIds } : {}) };
  const detail = seatIds ? `Named places that are not free: ${seatIds.length}.` : `Too few places are free: ${available}.`;
  return new DomainError('QUOTA_EXCEEDED', detail, data);
}

/** The answer of a dry run. */
export function plannedPlacesView(sectors: readonly PlannedSector[]): PlannedPlaces {
  const views = sectors.map(({ sectorId, free, taken }) => ({
    sector_id: sectorId,
    quantity: taken.length,
    stranded: strandedBy(free, new Set(taken.map(({ seatId }) => seatId))),
    rows: rowViews(free, taken),
    seat_ids: taken.map(({ seatId }) => seatId),
  }));
  const sum = (of: 'quantity' | 'stranded'): number => views.reduce((total, view) => total + view[of], 0);
  return { dry_run: true, quantity: sum('quantity'), stranded: sum('stranded'), by_sector: views };
}

type RowView = PlannedPlaces['by_sector'][number]['rows'][number];

function rowViews(free: readonly FreePlace[], taken: readonly FreePlace[]): RowView[] {
  if (taken[0]?.number === null) return [];
  const freeInRow = new Map<number, number>();
  for (const { rowIndex } of free) freeInRow.set(rowIndex, (freeInRow.get(rowIndex) ?? 0) + 1);
  const byRow = new Map<number, FreePlace[]>();
  for (const place of taken) byRow.set(place.rowIndex, [...(byRow.get(place.rowIndex) ?? []), place]);
  return [...byRow]
    .sort(([a], [b]) => a - b)
    .map(([rowIndex, places]) => ({
      row: places[0]?.row ?? '',
      quantity: places.length,
      is_whole: places.length === freeInRow.get(rowIndex),
      ranges: runsOf(places).map((run) => ({ from: run[0]?.number ?? 0, to: run.at(-1)?.number ?? 0 })),
    }));
}
