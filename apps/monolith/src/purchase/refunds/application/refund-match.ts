import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { RefundMatch } from '#domain/purchase/refund';
import type { Refunds } from './refund-ports.ts';
import type { RefundTickets } from './refund-tickets.ts';

/**
 * Orders that one job refunds in one transaction. An order takes about ten statements, so the transaction takes about half a
 * second.
 */
const MAX_ORDERS_IN_A_PAGE = 50;
/**
 * Time from one pass over the orders to the next. No request runs this long, so a hold requested before the cancellation is then
 * visible.
 */
const NEXT_PASS_SECONDS = 60;

interface Page {
  readonly orderIds: readonly string[];
  readonly hasPayableOrders: boolean;
}

/**
 * Refunds one page of a cancelled match's orders, including used tickets. The job for the next page is added in the same
 * transaction, so a crash loses no page and refunds no page twice. Holds stay valid after the cancellation and may still be paid.
 * So a new pass over all orders begins each minute, until a pass finds no completed order and no hold or order that can still be
 * paid.
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

  /** The order of the two queries matters: an order that is paid between them is found by the second one. */
  async prepare({ matchId, afterOrderId }: RefundMatch): Promise<Page> {
    const hasPayableOrders = await this.refunds.hasPayableOrders(matchId);
    return {
      hasPayableOrders,
      orderIds: await this.refunds.completedOrderIds(matchId, { after: afterOrderId, limit: MAX_ORDERS_IN_A_PAGE }),
    };
  }

  async work(tx: Transaction, job: RefundMatch, { orderIds, hasPayableOrders }: Page): Promise<void> {
    for (const orderId of orderIds) await this.refundTickets.refund(tx, { orderId, includeUsed: true });
    const last = orderIds.at(-1);
    if (last && orderIds.length === MAX_ORDERS_IN_A_PAGE) return this.jobs.put(tx, [{ ...job, afterOrderId: last }]);
    const foundNothing = orderIds.length === 0 && job.afterOrderId === null && !hasPayableOrders;
    if (foundNothing && job.round > 0) return;
    const nextPass: RefundMatch = { ...job, afterOrderId: null, round: job.round + 1 };
    await this.jobs.put(tx, [nextPass], { afterSeconds: NEXT_PASS_SECONDS });
  }
}
