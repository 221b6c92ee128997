import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { RefundMatchOrders } from '../application/refund-match.ts';

const refundMatch = z.object({
  class: z.literal('refund_match'),
  matchId: z.guid(),
  afterOrderId: z.guid().nullable(),
  round: z.int().min(0),
});

/** The background job that refunds the orders of a cancelled match: payload schema and handler. */
export const refundMatchJob = (handler: RefundMatchOrders): JobKind => ({ schema: refundMatch, handler });
