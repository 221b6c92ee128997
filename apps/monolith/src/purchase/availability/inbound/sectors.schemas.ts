import { z } from 'zod';
import type { SectorForSale } from '../../application/ports.ts';
import type { SeatState } from '../application/ports.ts';

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

const version = z
  .int()
  .meta({ description: 'Grows whenever one of the seats changed; two replicas never give the same version' });

const seatList = z
  .object({ version, items: z.array(seatAnswer).meta({ description: 'Every seat; empty for a standing sector' }) })
  .meta({ id: 'SeatList' });

const seatChanges = z
  .object({
    version,
    since: z.union([z.int(), z.string()]).meta({ description: 'The `since` of the request: the items are the changes after it' }),
    items: z
      .array(z.object({ id: seatAnswer.shape.id, status: seatAnswer.shape.status }))
      .meta({ description: 'The seats that changed, with their current status' }),
  })
  .meta({ id: 'SeatChanges' });

export const seatListAnswer = z.union([seatList, seatChanges]);

const VERSION = /^(?:0|[1-9]\d{0,15})$/;
const TAG = /^[\w-]{27}$/;

export const isVersion = (since: string): boolean => VERSION.test(since);

export const seatQuery = z.object({
  since: z
    .string()
    .refine((since) => isVersion(since) || TAG.test(since), 'must be a version, or an ETag without its quotes')
    .optional()
    .meta({
      description:
        'The state that the caller has: its `version`, or its ETag without quotes, which is the same in every replica. ' +
        'If this replica still knows that state, it answers with the seats that changed, else with every seat and no `since`',
    }),
});

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

export function seatChange({ seatId, status }: SeatState): z.infer<typeof seatChanges>['items'][number] {
  return { id: seatId, status };
}

export function seatView({ seatId, row, number, x, y, status }: SeatState): z.infer<typeof seatAnswer> {
  return { id: seatId, row, number, x, y, status };
}
