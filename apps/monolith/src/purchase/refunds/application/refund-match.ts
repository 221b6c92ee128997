import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { RefundMatch } from '#domain/purchase/refund';
import type { Refunds } from './refund-ports.ts';
import type { RefundTickets } from './refund-tickets.ts';

/** About ten statements each: a transaction of half a second. */
const ORDERS_A_PAGE = 50;
/** Longer than any request lives: a hold that was under way at the cancellation is seen by the next round. */
const NEXT_ROUND_SECONDS = 60;

interface Page {
  readonly orderIds: readonly string[];
  readonly mayBePaid: boolean;
}

/**
 * Refunds a page of a cancelled match's orders, used tickets too, and has the next page refunded, in the same transaction: an
 * order is refunded with its page or not at all, wherever it breaks off. Holds live on after the cancellation and may be paid, so all
 * is gone through again each minute until a round finds nothing paid and nothing that may be.
 */
export class RefundMatchOrders extends JobHandler<RefundMatch, Page> {
  readonly class = 'refund_match';

  constructor(
    private readonly refunds: Refunds,
    private readonly refundTickets: RefundTickets,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  /** In this order: what was paid between the two looks is seen by the second. */
  async prepare({ matchId, afterOrderId }: RefundMatch): Promise<Page> {
    const mayBePaid = await this.refunds.mayBePaid(matchId);
    return { mayBePaid, orderIds: await this.refunds.completedOf(matchId, { after: afterOrderId, limit: ORDERS_A_PAGE }) };
  }

  async work(tx: Transaction, job: RefundMatch, { orderIds, mayBePaid }: Page): Promise<void> {
    for (const orderId of orderIds) await this.refundTickets.refund(tx, { orderId, usedToo: true });
    const last = orderIds.at(-1);
    if (last && orderIds.length === ORDERS_A_PAGE) return this.jobs.put(tx, [{ ...job, afterOrderId: last }]);
    const foundNothing = orderIds.length === 0 && job.afterOrderId === null && !mayBePaid;
    if (foundNothing && job.round > 0) return;
    const again: RefundMatch = { ...job, afterOrderId: null, round: job.round + 1 };
    await this.jobs.put(tx, [again], { afterSeconds: NEXT_ROUND_SECONDS });
  }
}
