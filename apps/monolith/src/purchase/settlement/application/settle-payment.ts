import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { afterPayment } from '#domain/purchase/order';
import type { Money } from '#domain/shared/money';
import type { MatchesForSale, Order, Reservation } from '../../application/ports.ts';
import { CompleteOrders } from '../../checkout/application/complete-orders.ts';
import { firstOfEach } from '../../checkout/application/first-of-each.ts';
import type { OrderConsequences, Orders } from '../../checkout/application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { PaymentInbox } from './ports.ts';

export interface PaymentReport {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  /** As the provider was told it with the intent. */
  readonly orderId?: string;
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'other';
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

export type Settled = 'completed' | 'refunded' | 'noted' | 'repeated' | 'unknown intent';

/** Of an order that was paid. */
const PAID = ['payment_succeeded', 'completed'];

/**
 * What the provider says about a payment takes effect once, in one transaction with the record of its event. Every
 * captured payment ends as a completed order or goes back in full: hold alive, or over but its seats still to be had →
 * completed; otherwise → refunded, as for a fan who was blacklisted meanwhile. There is no third state (W9).
 */
export class SettlePayment {
  readonly execute: (report: PaymentReport) => Promise<Settled>;
  private readonly completing: CompleteOrders;

  constructor(
    transactions: TransactionManager,
    private readonly inbox: PaymentInbox,
    private readonly orders: Orders,
    private readonly reservations: Reservations,
    private readonly matches: MatchesForSale,
    private readonly consequences: OrderConsequences,
  ) {
    this.completing = new CompleteOrders(orders, reservations, consequences);
    this.execute = transactions.together({
      many: (tx, report) => this.settleMany(tx, report),
      one: (tx, report) => this.settle(tx, report),
    });
  }

  private async settle(tx: Transaction, report: PaymentReport): Promise<Settled> {
    if (!(await this.inbox.remember(tx, report))) return 'repeated';
    const reservationId =
      report.intentId && (await this.orders.reservationPaid(tx, { intentId: report.intentId, orderId: report.orderId }));
    const reservation = reservationId ? await this.reservations.lock(tx, reservationId) : undefined;
    const order = reservation && (await this.orders.lockOfReservation(tx, reservation.id));
    if (!order) return 'unknown intent';
    if (report.outcome === 'succeeded') return this.paid(tx, await this.withIntent(tx, order, report), reservation, report);
    if (report.outcome === 'failed') await this.orders.note(tx, order.id, 'payment_failed');
    return 'noted';
  }

  /** Plain is the exact payment of an order that awaits it, while its hold is alive. */
  private async settleMany(tx: Transaction, report: readonly PaymentReport[]): Promise<readonly (Settled | undefined)[]> {
    const succeeded = firstOfEach(
      report.filter(({ outcome, intentId }) => outcome === 'succeeded' && intentId),
      ({ intentId = '' }) => intentId,
    );
    const orders = await this.orders.lockAwaiting(
      tx,
      succeeded.map(({ intentId = '' }) => intentId),
    );
    const awaiting = [...orders.values()];
    const [holds, barred] = await Promise.all([
      this.reservations.lockFree(
        tx,
        awaiting.map(({ reservationId }) => reservationId),
      ),
      this.orders.barred(
        tx,
        awaiting.map(({ userId }) => userId),
      ),
    ]);
    const payable = succeeded.flatMap((one) => {
      const order = orders.get(one.intentId ?? '');
      const reservation = holds.get(order?.reservationId ?? '');
      const isPlain = order && reservation?.status === 'ordered' && isExactly(order, one) && !barred.has(order.userId);
      return isPlain ? [{ one, order, reservation }] : [];
    });
    const sold =
      payable.length > 0
        ? await this.reservations.complete(
            tx,
            payable.map(({ reservation }) => reservation),
          )
        : new Set();
    const completed = payable.filter(({ reservation }) => sold.has(reservation.id));
    const plain = new Set(completed.map(({ one }) => one));
    if (completed.length > 0) {
      await this.inbox.rememberNew(tx, [...plain]);
      await this.completing.conclude(tx, completed, PAID);
    }
    return report.map((one) => (plain.has(one) ? 'completed' : undefined));
  }

  private async paid(tx: Transaction, order: Order, reservation: Reservation, report: PaymentReport): Promise<Settled> {
    const paid = paidFor(order, report);
    const paidExactly = isExactly(order, report);
    const isOpen = order.status !== 'completed' && order.status !== 'refunded';
    const isBarred = isOpen && (await this.orders.barred(tx, [order.userId])).size > 0;
    const hasSeats = isOpen && paidExactly && !isBarred && (await this.hasSeats(tx, order, reservation));
    const outcome = afterPayment({ status: order.status, paidExactly, hasSeats });
    if (outcome === 'nothing') return 'noted';
    if (outcome === 'complete') return this.complete(tx, order, reservation);
    await this.orders.setStatus(tx, [order.id], 'refunded', [
      'payment_succeeded',
      whyRefunded({ paidExactly, isBarred }),
      'refunded',
    ]);
    await this.orders.giveUpWindow(tx, order);
    await this.giveSeatsBack(tx, reservation);
    await this.consequences.refunded(tx, order, paid);
    return 'refunded';
  }

  /** A living hold has its seats. One that is over gets them back as if it were asked for now: sale, window, limit, seats. */
  private async hasSeats(tx: Transaction, order: Order, reservation: Reservation): Promise<boolean> {
    const isAlive = reservation.status === 'ordered' && (await this.reservations.staysCounted(tx, reservation));
    if (isAlive) return this.reservations.sellSeats(tx, reservation);
    const match = await this.matches.match(order.matchId, tx);
    if (!match || match.saleStatus === 'closed') return false;
    if (!(await this.orders.reclaimWindow(tx, order))) return false;
    if (!(await this.reservations.countAgain(tx, reservation, match.maxTicketsPerFan))) return false;
    return this.reservations.sellSeats(tx, reservation);
  }

  private async complete(tx: Transaction, order: Order, reservation: Reservation): Promise<Settled> {
    await this.reservations.setStatus(tx, reservation.id, 'completed');
    await this.completing.conclude(tx, [{ order, reservation }], PAID);
    return 'completed';
  }

  /** Nobody can pay for this order any more, so nobody waits for its seats. */
  private async giveSeatsBack(tx: Transaction, reservation: Reservation): Promise<void> {
    if (reservation.status !== 'ordered') return;
    await this.reservations.setStatus(tx, reservation.id, 'released');
    await this.reservations.freeSeats(tx, reservation.id);
  }

  /** The provider may speak before its answer to us was recorded; without the intent nothing could be given back. */
  private async withIntent(tx: Transaction, order: Order, { intentId }: PaymentReport): Promise<Order> {
    if (order.payment.intentId !== null || !intentId) return order;
    const payment = { ...order.payment, intentId };
    await this.orders.setIntent(tx, order.id, payment);
    return { ...order, payment };
  }
}

function whyRefunded({ paidExactly, isBarred }: { paidExactly: boolean; isBarred: boolean }): string {
  if (!paidExactly) return 'payment_mismatch';
  return isBarred ? 'blacklisted' : 'seats_gone';
}

function paidFor(order: Order, report: PaymentReport): Money {
  return { amountCents: report.amountCents ?? order.totalCents, currency: report.currency?.toUpperCase() ?? '' };
}

/** Amount, currency, and the order it was asked for (W9): a payment that was meant for another one pays none. */
function isExactly(order: Order, report: PaymentReport): boolean {
  const { amountCents, currency } = paidFor(order, report);
  const isMeant = report.orderId === undefined || report.orderId === order.id;
  return isMeant && amountCents === order.totalCents && currency === order.currency;
}
