import type { CatalogSector, SectorFacts } from '#domain/catalog/match';
import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { plainText } from './text-fields.ts';

const name = plainText(100);

const requestedFacts = {
  name: name.meta({ description: 'Name of the sector, as it is printed on the ticket' }),
  gate: name.optional().meta({ description: 'Gate through which its holders enter' }),
  wheelchair: z.boolean().default(false).meta({ description: 'Its places are for people in wheelchairs' }),
  price_cents: z.int().min(0).max(100_000_000).meta({ description: 'Price of one ticket, in cents' }),
};

/** A sector in the request that creates a match. */
export const sectorRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    ...requestedFacts,
    kind: z.literal('seated').meta({ description: 'A sector with numbered seats' }),
    rows: z.int().min(1).max(500).meta({ description: 'Number of rows' }),
    seats_per_row: z.int().min(1).max(1000).meta({ description: 'Number of seats in each row' }),
  }),
  z.strictObject({
    ...requestedFacts,
    kind: z.literal('standing').meta({ description: 'A sector without seats' }),
    capacity: z.int().min(1).max(120_000).meta({ description: 'Number of standing places' }),
  }),
]);

/** Reads from the request what an operator says about a sector. */
export const sectorFactsOf = (request: z.output<typeof sectorRequest>): SectorFacts => ({
  name: request.name,
  gate: request.gate ?? null,
  wheelchair: request.wheelchair,
  priceCents: request.price_cents,
});

/** A sector in the answer that created its match. */
export const createdSectorAnswer = z.object({
  id: idOf('sector'),
  name: z.string().meta({ description: 'Name of the sector, as it is printed on the ticket' }),
  kind: z.enum(['seated', 'standing']).meta({ description: 'Whether the sector has numbered seats or standing places' }),
  gate: z.string().optional().meta({ description: 'Gate through which its holders enter. Missing: the operator named none' }),
  wheelchair: z.boolean().meta({ description: 'Its places are for people in wheelchairs' }),
  price_cents: z.int().meta({ description: 'Price of one ticket, in cents' }),
  currency: z.string().meta({ description: 'ISO 4217 code of the currency of the price, such as EUR' }),
  capacity: z.int().meta({ description: 'Number of places in the sector' }),
});

/** A sector as the API shows it to everybody. */
const sectorAnswer = createdSectorAnswer
  .extend({ available: z.int().meta({ description: 'Places that a fan can hold now' }) })
  .meta({ id: 'Sector' });
export type Sector = z.infer<typeof sectorAnswer>;

export const sectorListAnswer = z
  .object({ items: z.array(sectorAnswer).meta({ description: 'All sectors of the match' }) })
  .meta({ id: 'SectorList' });

/** Builds the API answer for a sector, without the number of free seats. */
export function createdSectorView(sector: CatalogSector, currency: string): z.infer<typeof createdSectorAnswer> {
  return {
    id: sector.id,
    name: sector.name,
    kind: sector.kind,
    ...(sector.gate ? { gate: sector.gate } : {}),
    wheelchair: sector.wheelchair,
    price_cents: sector.priceCents,
    currency,
    capacity: sector.capacity,
  };
}
