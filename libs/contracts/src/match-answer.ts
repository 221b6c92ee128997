import { saleStatuses, type SaleStatus } from '#domain/catalog/sale';
import { z } from 'zod';

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

/** One page of matches, as the API answers it. */
export const matchListAnswer = z
  .object({ items: z.array(matchAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'MatchList' });

interface PublicMatch {
  readonly id: string;
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly opensAt: Date | null;
  readonly saleStatus: SaleStatus;
  readonly cancelledAt: Date | null;
}

/** Builds the API answer for a match. */
export function matchView(match: PublicMatch): z.infer<typeof matchAnswer> {
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
