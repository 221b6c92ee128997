import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { paymentOutcome } from '#domain/purchase/order';
import type { Money } from '#domain/shared/money';
import type { Reservation } from '../../application/ports.ts';
import type { MatchesForSale, Order } from '../../application/sale-ports.ts';
import { CompleteOrders } from '../../checkout/application/complete-orders.ts';
import { firstOfEachKey } from '../../checkout/application/first-of-each-key.ts';
import type { OrderConsequences, Orders } from '../../checkout/application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { PaymentInbox, PaymentReport } from './ports.ts';

/**
 * What a payment report has caused. `noted`: only recorded. `repeated`: the event was applied before. `unknown intent`: no order
 * belongs to the payment.
 */
export type SettlementResult = 'completed' | 'refunded' | 'noted' | 'repeated' | 'unknown intent';

/** The result of a payment report, with the order that it is about. */
export interface Settlement {
  readonly result: SettlementResult;
  /** Undefined for a repeated report and for an unknown intent. */
  readonly order?: Order;
}

/** The events that are added to an order's timeline when its payment completes the order. */
const PAID_EVENTS = ['payment_succeeded', 'completed'];

/**
 * Applies the provider's reports about payments. A report takes effect once: its effect and the record of its event commit in the
 * same transaction. Every captured payment ends in one of two ways:
 * - The order is completed if its hold is valid, or has ended but its seats are still available.
 * - Otherwise, and if the fan is blacklisted or has erased the order's data, the payment is refunded in full.
 */
export class SettlePayment {
  readonly execute: (report: PaymentReport) => Promise<Settlement>;
  private readonly completeOrders: CompleteOrders;

  constructor(
    transactions: TransactionManager,
    private readonly inbox: PaymentInbox,
    private readonly orders: Orders,
    private readonly reservations: Reservations,
    private readonly matches: MatchesForSale,
    private readonly consequences: OrderConsequences,
  ) {
    this.completeOrders = new CompleteOrders(orders, reservations, consequences);
    this.execute = transactions.together({
      many: (tx, reports) => this.settleMany(tx, reports),
      one: (tx, report) => this.settle(tx, report),
    });
  }

  private async settle(tx: Transaction, report: PaymentReport): Promise<Settlement> {
    if (!(await this.inbox.remember(tx, report))) return { result: 'repeated' };
    const reservationId =
      report.intentId && (await this.orders.reservationPaid(tx, { intentId: report.intentId, orderId: report.orderId }));
    const reservation = reservationId ? await this.reservations.lock(tx, reservationId) : undefined;
    const order = reservation && (await this.orders.lockOfReservation(tx, reservation.id));
    if (!order) return { result: 'unknown intent' };
    if (report.outcome === 'succeeded') {
      const withIntent = await this.withIntent(tx, order, report);
      return { result: await this.paid(tx, withIntent, reservation, report), order };
    }
    if (report.outcome === 'failed') await this.orders.note(tx, order.id, 'payment_failed');
    return { result: 'noted', order };
  }

  /**
   * Settles the simple reports of a batch: an exact payment of an order that awaits it and whose hold is valid. For all other
   * reports the result is undefined, and `settle` is called.
   */
  private async settleMany(tx: Transaction, reports: readonly PaymentReport[]): Promise<readonly (Settlement | undefined)[]> {
    const paid = reports.filter(({ outcome, intentId }) => outcome === 'succeeded' && intentId);
    const succeeded = firstOfEachKey(paid, ({ intentId = '' }) => intentId);
    const intentIds = succeeded.map(({ intentId = '' }) => intentId);
    const orders = await this.orders.lockAwaiting(tx, intentIds);
    const reservationIds = [...orders.values()].map(({ reservationId }) => reservationId);
    const userIds = [...orders.values()].map(({ userId }) => userId);
    const [holds, blacklistedUserIds] = await Promise.all([
      this.reservations.lockSkippingLocked(tx, reservationIds),
      this.orders.barred(tx, userIds),
    ]);
    const payable = succeeded.flatMap((report) => {
      const order = orders.get(report.intentId ?? '');
      const reservation = holds.get(order?.reservationId ?? '');
      if (!order || reservation?.status !== 'ordered') return [];
      const isPayable = isExactly(order, report) && !blacklistedUserIds.has(order.userId);
      return isPayable ? [{ report, order, reservation }] : [];
    });
    const payableHolds = payable.map(({ reservation }) => reservation);
    const soldIds = payable.length > 0 ? await this.reservations.complete(tx, payableHolds) : new Set();
    const completed = payable.filter(({ reservation }) => soldIds.has(reservation.id));
    const settled = new Map(completed.map(({ report, order }) => [report, order]));
    if (completed.length > 0) {
      await this.inbox.rememberNew(tx, [...settled.keys()]);
      await this.completeOrders.finish(tx, completed, PAID_EVENTS);
    }
    return reports.map((report) => {
      const order = settled.get(report);
      return order && { result: 'completed', order };
    });
  }

  private async paid(tx: Transaction, order: Order, reservation: Reservation, report: PaymentReport): Promise<SettlementResult> {
    const paid = paidFor(order, report);
    const paidExactly = isExactly(order, report);
    const isOpen = order.status !== 'completed' && order.status !== 'refunded';
    const isBlacklisted = isOpen && (await this.orders.barred(tx, [order.userId])).size > 0;
    const canComplete = isOpen && paidExactly && !isBlacklisted && !isErased(order);
    const hasSeats = canComplete && (await this.sellSeats(tx, order, reservation));
    const outcome = paymentOutcome({ status: order.status, paidExactly, hasSeats });
    if (outcome === 'nothing') return 'noted';
    if (outcome === 'complete') {
      await this.reservations.setStatus(tx, reservation.id, 'completed');
      await this.completeOrders.finish(tx, [{ order, reservation }], PAID_EVENTS);
      return 'completed';
    }
    const reason = !paidExactly ? 'payment_mismatch' : isBlacklisted ? 'blacklisted' : isErased(order) ? 'erased' : 'seats_gone';
    await this.orders.setStatus(tx, [order.id], 'refunded', ['payment_succeeded', reason, 'refunded']);
    await this.orders.giveUpWindow(tx, order);
    if (reservation.status === 'ordered') {
      // The order cannot be paid any more, so its seats are put on sale at once.
      await this.reservations.setStatus(tx, reservation.id, 'released');
      await this.reservations.freeSeats(tx, reservation.id);
    }
    await this.consequences.refunded(tx, order, paid);
    return 'refunded';
  }

  /**
   * Sells the seats of the reservation; false if it cannot. A valid hold still has its seats. For a hold that has ended, the same
   * rules apply as for a new hold request: sale not closed, turn without another order, ticket limit, free seats.
   */
  private async sellSeats(tx: Transaction, order: Order, reservation: Reservation): Promise<boolean> {
    const isHoldValid = reservation.status === 'ordered' && (await this.reservations.staysCounted(tx, reservation));
    if (isHoldValid) return this.reservations.sellSeats(tx, reservation);
    const match = await this.matches.match(order.matchId, tx);
    if (!match || match.saleStatus === 'closed') return false;
    if (!(await this.orders.reclaimWindow(tx, order))) return false;
    if (!(await this.reservations.countAgain(tx, reservation, match.maxTicketsPerFan))) return false;
    return this.reservations.sellSeats(tx, reservation);
  }

  /** Stores the intent on the order if the report arrived before checkout has stored it. A refund needs the stored intent. */
  private async withIntent(tx: Transaction, order: Order, { intentId }: PaymentReport): Promise<Order> {
    if (order.payment.intentId !== null || !intentId) return order;
    const payment = { ...order.payment, intentId };
    await this.orders.setIntent(tx, order.id, payment);
    return { ...order, payment };
  }
}

/** True if the fan has erased the names and the address of the order: nobody could get its tickets. */
function isErased(order: Order): boolean {
  return order.email === '';
}

function paidFor(order: Order, report: PaymentReport): Money {
  return { amountCents: report.amountCents ?? order.totalCents, currency: report.currency?.toUpperCase() ?? '' };
}

/** True if the payment has the order's amount, currency and id. A payment that names another order's id completes neither order. */
function isExactly(order: Order, report: PaymentReport): boolean {
  const { amountCents, currency } = paidFor(order, report);
  const isForThisOrder = report.orderId === undefined || report.orderId === order.id;
  return isForThisOrder && amountCents === order.totalCents && currency === order.currency;
}
