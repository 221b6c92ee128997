import { transferPolicies, type CatalogMatch, type CatalogSector } from '#domain/catalog/match';
import { saleActions } from '#domain/catalog/sale-changes';
import { saleStatuses } from '#domain/catalog/sale';
import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf, pageQuery } from './paging.ts';
import { createdSectorAnswer, createdSectorView, sectorRequest } from './sectors.ts';
import { plainText } from './text-fields.ts';

/** A match as the API shows it to everybody. */
export const matchAnswer = z
  .object({
    id: idOf('match'),
    home: z.string().meta({ description: 'Name of the home team' }),
    away: z.string().meta({ description: 'Name of the away team' }),
    venue: z.string().meta({ description: 'Name of the stadium' }),
    kickoff_at: z.iso.datetime().meta({ description: 'When the match begins' }),
    currency: z.string().meta({ description: 'ISO 4217 code of the currency of all prices of the match, such as EUR' }),
    sale: z
      .object({
        status: z
          .enum(saleStatuses)
          .meta({ description: 'Whether fans can buy now. `sold_out`: nothing is free and nothing is held' }),
        opens_at: z.iso
          .datetime()
          .nullable()
          .meta({ description: 'When a scheduled sale opens by itself. Null: an operator opens it' }),
        policy: z
          .enum(['fifo', 'direct'])
          .meta({ description: '`fifo`: fans wait in line, first come, first served. `direct`: fans buy without a line' }),
      })
      .meta({ description: 'The sale to the public' }),
    max_tickets_per_fan: z.int().meta({ description: 'How many tickets of the match one fan may buy' }),
    queue_required: z.boolean().meta({ description: 'Whether a hold needs a turn of the waiting room (`X-Purchase-Session`)' }),
    cancelled_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When the match was cancelled. Null: it was not. Paid orders are refunded' }),
    cancel_reason: z.string().nullable().meta({ description: 'Why the match was cancelled. Null: it was not cancelled' }),
    transfers: z
      .enum(transferPolicies)
      .meta({ description: 'Whether fans may give tickets to each other. `locked`: nobody can offer or accept one' }),
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
export const matchQuery = opsMatchQuery.extend({
  status: z.enum(saleStatuses).optional().meta({ description: 'Only matches whose sale has this status' }),
});

const name = plainText(100);
const rate = z.int().min(1).max(1_000_000).meta({ description: 'How many turns the waiting room may grant a minute' });
const windows = z.int().min(0).max(1_000_000).meta({ description: 'How many purchase windows may be open at the same time' });

const facts = {
  home: name.meta({ description: 'Name of the home team' }),
  away: name.meta({ description: 'Name of the away team' }),
  venue: name.meta({ description: 'Name of the stadium' }),
  kickoff_at: z.iso.datetime({ offset: true }).meta({ description: 'When the match begins, with an offset or Z' }),
  max_tickets_per_fan: z.int().min(1).max(20).meta({ description: 'How many tickets of the match one fan may buy' }),
  opens_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .meta({ description: 'When the sale opens by itself. Null: an operator opens it' }),
};

export const createMatchRequest = z
  .strictObject({
    ...facts,
    /** The currency cannot be changed later, because prices and orders use it. */
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')
      .meta({ description: 'ISO 4217 code of the currency of all prices. It cannot be changed later' }),
    queue_required: z.boolean().meta({ description: 'Whether fans wait in line before they buy. It cannot be changed later' }),
    processing_rate: rate.default(600),
    max_open_windows: windows.default(1000),
    sectors: z
      .array(sectorRequest)
      .min(1)
      .max(200)
      .meta({ description: 'The sectors with their places, at most 120,000 places in total' }),
  })
  .meta({ id: 'CreateMatchRequest' });

export const changeMatchRequest = z
  .strictObject({
    ...facts,
    processing_rate: rate,
    max_open_windows: windows,
    transfers: z
      .enum(transferPolicies)
      .meta({ description: '`locked`: no ticket can be offered to another fan, and no offer can be accepted' }),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')
  .meta({ id: 'ChangeMatchRequest' });

export const changeSaleRequest = z
  .strictObject({
    action: z
      .enum(saleActions)
      .meta({ description: '`open` from scheduled or closed, `pause` from open, `resume` from paused, `close` from any status' }),
    reason: plainText(200).optional().meta({ description: 'Why the sale is paused. Waiting fans are told' }),
  })
  .meta({ id: 'ChangeSaleRequest' });
export type SaleAction = z.infer<typeof changeSaleRequest>['action'];

export const cancelMatchRequest = z
  .strictObject({ reason: plainText(200).meta({ description: 'Why the match is cancelled. Every ticket holder is told' }) })
  .meta({ id: 'CancelMatchRequest' });

export const changeQueueRequest = z
  .strictObject({ processing_rate: rate.optional(), max_open_windows: windows.optional() })
  .meta({ id: 'ChangeQueueRequest' });

/** A match as operators see it. `sectors` are only in the answer that created the match. */
export const opsMatchAnswer = matchAnswer
  .extend({
    processing_rate: z.int().meta({ description: 'How many turns the waiting room may grant a minute' }),
    max_open_windows: z.int().meta({ description: 'How many purchase windows may be open at the same time' }),
    pause_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the sale is paused. Null: it is not paused, or no reason was given' }),
    sectors: z.array(createdSectorAnswer).optional().meta({ description: 'Only in the answer that created the match' }),
  })
  .meta({ id: 'OpsMatch' });
export type OpsMatch = z.infer<typeof opsMatchAnswer>;

export const opsMatchListAnswer = pageOf(opsMatchAnswer).meta({ id: 'OpsMatchList' });

/** The answer of `GET /ops/matches/{id}/report`. */
export const matchReportAnswer = z
  .object({
    capacity: z.int().meta({ description: 'All places: available + held + sold + blocked' }),
    available: z.int().meta({ description: 'Places that a fan can hold now' }),
    held: z.int().meta({ description: 'Places in a hold or in a checkout' }),
    sold: z.int().meta({ description: 'Places with a ticket' }),
    blocked: z.int().meta({ description: 'Places that are not for sale to the public' }),
    refunded: z.int().meta({ description: 'Tickets that were refunded. Their places count as available again' }),
    revenue_cents: z.int().meta({ description: 'Money of the completed orders minus refunds, in cents' }),
    orders: z.record(z.string(), z.int()).meta({ description: 'Number of orders for each status of an order' }),
    queue: z
      .object({
        waiting: z.int().meta({ description: 'Fans in line now' }),
        open_windows: z.int().meta({ description: 'Fans whose turn is running now' }),
        granted: z.int().meta({ description: 'Turns granted since the line was created' }),
        completed: z.int().meta({ description: 'Turns that ended with a purchase' }),
        expired: z.int().meta({ description: 'Turns that ended without a purchase' }),
      })
      .nullable()
      .meta({ description: 'Null: the match has no waiting room, or the waiting room does not answer' }),
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
    cancel_reason: match.cancelReason,
    transfers: match.transfers,
  };
}

/** Builds the answer of the operators' API for a match. It contains the sectors only if they are given. */
export function opsMatchView(match: CatalogMatch, sectors?: readonly CatalogSector[]): OpsMatch {
  return {
    ...matchView(match),
    processing_rate: match.processingRate,
    max_open_windows: match.maxOpenWindows,
    pause_reason: match.pauseReason,
    ...(sectors ? { sectors: sectors.map((sector) => createdSectorView(sector, match.currency)) } : {}),
  };
}
