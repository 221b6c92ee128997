import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { RefundMatchOrders } from '../application/refund-match.ts';

const refundMatch = z.object({
  class: z.literal('refund_match'),
  matchId: z.guid(),
  afterOrderId: z.guid().nullable(),
  round: z.int().min(0),
});

/** The kinds of background jobs that `purchase` handles: payload schema and handler. */
export class PurchaseJobs {
  readonly kinds: readonly JobKind[];

  constructor(refundMatchOrders: RefundMatchOrders) {
    this.kinds = [{ schema: refundMatch, handler: refundMatchOrders }];
  }
}
