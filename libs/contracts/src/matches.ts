import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import { saleActions } from '#domain/catalog/sale-changes';
import { saleStatuses } from '#domain/catalog/sale';
import { z } from 'zod';
import { pageOf, pageQuery } from './paging.ts';
import { createdSectorAnswer, createdSectorView, sectorRequest } from './sectors.ts';
import { plainText } from './text-fields.ts';

/** A match as the API shows it to everybody. */
export const matchAnswer = z
  .object({
    id: z.guid(),
    home: z.string(),
    away: z.string(),
    venue: z.string(),
    kickoff_at: z.iso.datetime(),
    currency: z.string().meta({ description: 'ISO 4217' }),
    sale: z.object({ status: z.enum(saleStatuses), opens_at: z.iso.datetime().nullable(), policy: z.enum(['fifo', 'direct']) }),
    max_tickets_per_fan: z.int(),
    queue_required: z.boolean(),
    cancelled_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When the match was cancelled; null if it was not. Paid orders are refunded' }),
  })
  .meta({ id: 'Match' });
export type Match = z.infer<typeof matchAnswer>;
export type SaleStatus = Match['sale']['status'];

export const matchListAnswer = pageOf(matchAnswer).meta({ id: 'MatchList' });
/** The longest search text, in characters. */
const MAX_SEARCH_LENGTH = 100;

/** The query parameters of `GET /ops/matches`. */
export const opsMatchQuery = pageQuery.extend({
  q: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be plain text')
    .optional()
    .meta({
      description:
        'Words of the teams and the venue, without regard to case and accents. Every word must match, the last one as a prefix. ' +
        'Best matches first. A text without words restricts nothing',
    }),
});

/** The query parameters of `GET /matches`. */
export const matchQuery = opsMatchQuery.extend({ status: z.enum(saleStatuses).optional() });

const name = plainText(100);
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
export type SaleAction = z.infer<typeof changeSaleRequest>['action'];

export const cancelMatchRequest = z.strictObject({ reason: plainText(200) }).meta({ id: 'CancelMatchRequest' });

export const changeQueueRequest = z
  .strictObject({ processing_rate: rate.optional(), max_open_windows: windows.optional() })
  .meta({ id: 'ChangeQueueRequest' });

/** A match as operators see it. `sectors` are only in the answer that created the match. */
export const opsMatchAnswer = matchAnswer
  .extend({
    processing_rate: z.int(),
    max_open_windows: z.int(),
    pause_reason: z.string().nullable(),
    cancel_reason: z.string().nullable(),
    sectors: z.array(createdSectorAnswer).optional(),
  })
  .meta({ id: 'OpsMatch' });
export type OpsMatch = z.infer<typeof opsMatchAnswer>;

export const opsMatchListAnswer = pageOf(opsMatchAnswer).meta({ id: 'OpsMatchList' });

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

/** Builds the API answer for a match. */
export function matchView(match: CatalogMatch): Match {
  return {
    id: match.id,
    home: match.home,
    away: match.away,
    venue: match.venue,
    kickoff_at: match.kickoffAt.toISOString(),
    currency: match.currency,
    sale: {
      status: match.saleStatus,
      opens_at: match.opensAt?.toISOString() ?? null,
      policy: match.queueRequired ? 'fifo' : 'direct',
    },
    max_tickets_per_fan: match.maxTicketsPerFan,
    queue_required: match.queueRequired,
    cancelled_at: match.cancelledAt?.toISOString() ?? null,
  };
}

/** Builds the answer of the operators' API for a match. It contains the sectors only if they are given. */
export function opsMatchView(match: CatalogMatch, sectors?: readonly CatalogSector[]): OpsMatch {
  return {
    ...matchView(match),
    processing_rate: match.processingRate,
    max_open_windows: match.maxOpenWindows,
    pause_reason: match.pauseReason,
    cancel_reason: match.cancelReason,
    ...(sectors ? { sectors: sectors.map((sector) => createdSectorView(sector, match.currency)) } : {}),
  };
}
