import { matchAnswer, matchView } from '#contracts/match-answer';
import { saleActions } from '#domain/catalog/sale-changes';
import { plainText } from '#platform/http/text-fields';
import { z } from 'zod';
import type { CatalogMatch, CatalogSector } from '../catalog/catalog.api.ts';
import type { CreateMatchCommand } from './operations.api.ts';

const name = plainText(100);

const sectorFacts = { name, gate: name.optional(), price_cents: z.int().min(0).max(100_000_000) };

const sectorRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    ...sectorFacts,
    kind: z.literal('seated'),
    rows: z.int().min(1).max(500),
    seats_per_row: z.int().min(1).max(1000),
  }),
  z.strictObject({ ...sectorFacts, kind: z.literal('standing'), capacity: z.int().min(1).max(120_000) }),
]);

const rate = z.int().min(1).max(1_000_000);
const windows = z.int().min(0).max(1_000_000);

const facts = {
  home: name,
  away: name,
  venue: name,
  kickoff_at: z.iso.datetime({ offset: true }),
  max_tickets_per_fan: z.int().min(1).max(20),
  opens_at: z.iso.datetime({ offset: true }).nullable().optional(),
};

export const createMatchRequest = z
  .strictObject({
    ...facts,
    /** The currency cannot be changed later, because prices and orders use it. */
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code'),
    queue_required: z.boolean(),
    processing_rate: rate.default(600),
    max_open_windows: windows.default(1000),
    sectors: z.array(sectorRequest).min(1).max(200),
  })
  .meta({ id: 'CreateMatchRequest' });

export const changeMatchRequest = z
  .strictObject({ ...facts, processing_rate: rate, max_open_windows: windows })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')
  .meta({ id: 'ChangeMatchRequest' });

export const changeSaleRequest = z
  .strictObject({ action: z.enum(saleActions), reason: plainText(200).optional() })
  .meta({ id: 'ChangeSaleRequest' });

export const cancelMatchRequest = z.strictObject({ reason: plainText(200) }).meta({ id: 'CancelMatchRequest' });

export const changeQueueRequest = z
  .strictObject({ processing_rate: rate.optional(), max_open_windows: windows.optional() })
  .meta({ id: 'ChangeQueueRequest' });

const opsSector = z.object({
  id: z.guid(),
  name: z.string(),
  kind: z.enum(['seated', 'standing']),
  gate: z.string().optional(),
  price_cents: z.int(),
  currency: z.string(),
  capacity: z.int(),
});

export const opsMatchAnswer = matchAnswer
  .extend({
    processing_rate: z.int(),
    max_open_windows: z.int(),
    pause_reason: z.string().nullable(),
    cancel_reason: z.string().nullable(),
    sectors: z.array(opsSector).optional(),
  })
  .meta({ id: 'OpsMatch' });

export const opsMatchListAnswer = z
  .object({ items: z.array(opsMatchAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'OpsMatchList' });

/** The answer of `GET /ops/matches/{id}/report`. */
export const matchReportAnswer = z
  .object({
    capacity: z.int(),
    available: z.int(),
    held: z.int(),
    sold: z.int(),
    blocked: z.int(),
    refunded: z.int(),
    revenue_cents: z.int(),
    orders: z.record(z.string(), z.int()),
    queue: z
      .object({ waiting: z.int(), open_windows: z.int(), granted: z.int(), completed: z.int(), expired: z.int() })
      .nullable(),
  })
  .meta({ id: 'MatchReport' });

/** A match in the format of the operators' API. It contains the sectors only if they are given. */
export function opsMatchView(match: CatalogMatch, sectors?: readonly CatalogSector[]): z.infer<typeof opsMatchAnswer> {
  return {
    ...matchView(match),
    processing_rate: match.processingRate,
    max_open_windows: match.maxOpenWindows,
    pause_reason: match.pauseReason,
    cancel_reason: match.cancelReason,
    ...(sectors ? { sectors: sectors.map((sector) => sectorOf(sector, match.currency)) } : {}),
  };
}

function sectorOf(
  { id, name: sectorName, kind, gate, priceCents, capacity }: CatalogSector,
  currency: string,
): z.infer<typeof opsSector> {
  return { id, name: sectorName, kind, ...(gate ? { gate } : {}), price_cents: priceCents, currency, capacity };
}

/** Converts the body of `POST /ops/matches` to a command. */
export function createMatchCommandOf(body: z.output<typeof createMatchRequest>): CreateMatchCommand {
  return {
    home: body.home,
    away: body.away,
    venue: body.venue,
    kickoffAt: new Date(body.kickoff_at),
    currency: body.currency,
    maxTicketsPerFan: body.max_tickets_per_fan,
    queueRequired: body.queue_required,
    opensAt: body.opens_at ? new Date(body.opens_at) : null,
    processingRate: body.processing_rate,
    maxOpenWindows: body.max_open_windows,
    sectors: body.sectors.map((sector) => ({
      name: sector.name,
      gate: sector.gate ?? null,
      priceCents: sector.price_cents,
      plan:
        sector.kind === 'seated'
          ? { kind: 'seated', rows: sector.rows, seatsPerRow: sector.seats_per_row }
          : { kind: 'standing', capacity: sector.capacity },
    })),
  };
}
