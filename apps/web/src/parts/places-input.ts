import type { RouteBody } from '#contracts/page-routes';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import type { Faults, FaultTexts } from './quota-input.ts';

type RequestedPlaces = RouteBody<'POST /api/v1/ops/quotas/:id/moves'>['places'];

/** What one line of the fields for places contains. An empty sector is any sector, an empty price the ordinary one. */
export interface PlacesInput {
  /** Tells the lines apart while lines are added and removed. */
  readonly key: number;
  readonly sectorId: string;
  readonly quantity: string;
  readonly price: string;
}

/** A sector that places can be taken of. */
export interface SectorChoice {
  readonly id: string;
  readonly name: string;
  readonly free: number;
}

export const emptyPlaces = (key: number): PlacesInput => ({ key, sectorId: '', quantity: '', price: '' });

/** The sectors with free places: of the quota, or of the public. */
export function sectorChoices(sectors: readonly Sector[], owner: Quota | undefined): readonly SectorChoice[] {
  const freeOf = new Map(owner?.by_sector.map(({ sector_id, free }) => [sector_id, free]));
  return sectors
    .map(({ id, name, available }) => ({ id, name, free: owner ? (freeOf.get(id) ?? 0) : available }))
    .filter(({ free }) => free > 0);
}

const MAX_QUANTITY = 120_000;
const quantityOf = (text: string): number => (/^\d{1,6}$/.test(text.trim()) ? Number(text.trim()) : 0);

/** The cents of a typed amount. Undefined for an empty field. */
export const centsOf = (price: string): number | undefined =>
  price.trim() === '' ? undefined : Math.round(Number(price.trim().replace(',', '.')) * 100);

/** The faults of the lines, by their paths in the request. */
export function placesFaults(places: readonly PlacesInput[], texts: FaultTexts): Faults {
  const faults: Record<string, string> = {};
  for (const [line, { sectorId, quantity, price }] of places.entries()) {
    const count = quantityOf(quantity);
    if (count < 1 || count > MAX_QUANTITY) faults[`places.${line}.quantity`] = texts.quantity;
    if (price.trim() !== '' && !/^\d{1,6}([.,]\d{1,2})?$/.test(price.trim())) faults[`places.${line}.price`] = texts.price;
    if (places.findIndex((other) => other.sectorId === sectorId) < line) faults[`places.${line}.sector`] = texts.twice;
  }
  return faults;
}

export const requestedPlaces = (places: readonly PlacesInput[]): RequestedPlaces =>
  places.map(({ sectorId, quantity }) => ({ ...(sectorId ? { sector_id: sectorId } : {}), quantity: quantityOf(quantity) }));
