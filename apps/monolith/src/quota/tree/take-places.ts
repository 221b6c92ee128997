import type { Transaction } from '#application/transaction-manager';
import { PlacesNotFree, type PlaceMove, type QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { choosePlaces } from './choose-places.ts';
import type { PlannedSector } from './plan-places.ts';

/**
 * Moves planned places in a transaction at READ COMMITTED, while buyers take some of them. Those that went are replaced by other free
 * places of their sector, unless the operator has named them (`named`). Returns the places that were moved. Throws `PlacesNotFree` if
 * they cannot be replaced: then the transaction must fail, and all places are planned again.
 *
 * Nothing is read again for a replacement: what was free at the time of the plan is tried until enough of it is still free. Each time
 * fewer places are missing, and no place is tried twice.
 */
export async function takePlaces(
  places: Pick<QuotaPlacesApi, 'moveFree'>,
  tx: Transaction,
  move: Omit<PlaceMove, 'seatIds'>,
  plan: { readonly sectors: readonly PlannedSector[]; readonly named: ReadonlySet<string> },
): Promise<readonly PlannedSector[]> {
  let { sectors } = plan;
  let missing = idsOf(sectors);
  for (let waits = true; missing.length > 0; waits = false) {
    const notFree = new Set(await places.moveFree(tx, { ...move, seatIds: missing }, { waits }));
    const left = sectors.map((sector) => withoutPlaces(sector, notFree));
    const replaced = left.map((sector, index) => refilled(sector, sectors[index]!.taken.length));
    const isReplaced = replaced.every((sector) => sector !== undefined);
    if (!isReplaced || [...notFree].some((id) => plan.named.has(id)))
      throw new PlacesNotFree(idsOf(left).length, idsOf(sectors).length);
    const moved = new Set(idsOf(left));
    missing = idsOf(replaced).filter((id) => !moved.has(id));
    sectors = replaced;
  }
  return sectors;
}

export const idsOf = (sectors: readonly PlannedSector[]): string[] =>
  sectors.flatMap(({ taken }) => taken.map(({ seatId }) => seatId));

export const idsBySector = (sectors: readonly PlannedSector[]): Record<string, string[]> =>
  Object.fromEntries(sectors.map(({ sectorId, taken }) => [sectorId, taken.map(({ seatId }) => seatId)]));

function withoutPlaces({ sectorId, free, taken }: PlannedSector, gone: ReadonlySet<string>): PlannedSector {
  const isThere = ({ seatId }: { readonly seatId: string }): boolean => !gone.has(seatId);
  return { sectorId, free: free.filter(isThere), taken: taken.filter(isThere) };
}

/**
 * The sector with so many more taken places that there are `quantity`. Undefined if too few are free. Prefers worse places: buyers get
 * the better ones first, so these are still free.
 */
function refilled(sector: PlannedSector, quantity: number): PlannedSector | undefined {
  const { sectorId, free, taken } = sector;
  if (taken.length === quantity) return sector;
  const isTaken = new Set(taken.map(({ seatId }) => seatId));
  const others = free.flatMap((place) => (isTaken.has(place.seatId) ? [] : { ...place, rank: -place.rank }));
  const more = choosePlaces(others, quantity - taken.length);
  return more && { sectorId, free, taken: [...taken, ...more] };
}
