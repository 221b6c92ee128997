import type { CatalogSector, SectorFacts } from '#domain/catalog/match';
import { z } from 'zod';
import { plainText } from './text-fields.ts';

const name = plainText(100);

const requestedFacts = {
  name,
  gate: name.optional(),
  wheelchair: z.boolean().default(false).meta({ description: 'Its places are for people in wheelchairs' }),
  price_cents: z.int().min(0).max(100_000_000),
};

/** A sector in the request that creates a match. */
export const sectorRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    ...requestedFacts,
    kind: z.literal('seated'),
    rows: z.int().min(1).max(500),
    seats_per_row: z.int().min(1).max(1000),
  }),
  z.strictObject({ ...requestedFacts, kind: z.literal('standing'), capacity: z.int().min(1).max(120_000) }),
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
  id: z.guid(),
  name: z.string(),
  kind: z.enum(['seated', 'standing']),
  gate: z.string().optional(),
  wheelchair: z.boolean().meta({ description: 'Its places are for people in wheelchairs' }),
  price_cents: z.int(),
  currency: z.string(),
  capacity: z.int(),
});

/** A sector as the API shows it to everybody. */
const sectorAnswer = createdSectorAnswer.extend({ available: z.int() }).meta({ id: 'Sector' });
export type Sector = z.infer<typeof sectorAnswer>;

export const sectorListAnswer = z.object({ items: z.array(sectorAnswer) }).meta({ id: 'SectorList' });

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
