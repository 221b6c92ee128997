import { z } from 'zod';
import type { SeatState, SectorForSale } from '../application/ports.ts';

const sectorAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    kind: z.enum(['seated', 'standing']),
    gate: z.string().optional(),
    price_cents: z.int(),
    currency: z.string(),
    capacity: z.int(),
    available: z.int(),
  })
  .meta({ id: 'Sector' });

export const sectorListAnswer = z.object({ items: z.array(sectorAnswer) }).meta({ id: 'SectorList' });

const seatAnswer = z
  .object({
    id: z.guid(),
    row: z.string().nullable(),
    number: z.int().nullable(),
    x: z.number().nullable(),
    y: z.number().nullable(),
    status: z.enum(['available', 'held', 'sold', 'blocked']),
  })
  .meta({ id: 'Seat' });

export const seatListAnswer = z
  .object({ version: z.int(), items: z.array(seatAnswer).meta({ description: 'Empty for a standing sector' }) })
  .meta({ id: 'SeatList' });

export function sectorView(sector: SectorForSale, available: number): z.infer<typeof sectorAnswer> {
  return {
    id: sector.id,
    name: sector.name,
    kind: sector.kind,
    ...(sector.gate ? { gate: sector.gate } : {}),
    price_cents: sector.priceCents,
    currency: sector.currency,
    capacity: sector.capacity,
    available,
  };
}

/** A message of the availability stream. */
export function availabilityMessage(
  type: 'snapshot' | 'diff',
  version: number,
  sectors: readonly { readonly sectorId: string; readonly available: number }[],
): string {
  return JSON.stringify({ type, version, sectors: sectors.map(({ sectorId, available }) => ({ id: sectorId, available })) });
}

export function seatView({ seatId, row, number, x, y, status }: SeatState): z.infer<typeof seatAnswer> {
  return { id: seatId, row, number, x, y, status };
}
