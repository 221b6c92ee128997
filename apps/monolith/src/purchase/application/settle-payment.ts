import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { afterPayment } from '#domain/purchase/order';
import type { MatchesForSale, Order, OrderConsequences, Orders, PaymentInbox, Reservation, Reservations } from './ports.ts';

export interface PaymentNews {
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

/**
 * What the provider says about a payment takes effect once, in one transaction with the record of its event. Every
 * captured payment ends as a completed order or goes back in full: hold alive, or over but its seats still to be had →
 * completed; otherwise → refunded. There is no third state (W9).
 */
export class SettlePayment {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly inbox: PaymentInbox,
    private readonly orders: Orders,
    private readonly reservations: Reservations,
    private readonly matches: MatchesForSale,
    private readonly consequences: OrderConsequences,
  ) {}

  execute(news: PaymentNews): Promise<Settled> {
    return this.transactions.run(async (tx) => {
      if (!(await this.inbox.remember(tx, news))) return 'repeated';
      const reservationId =
        news.intentId && (await this.orders.reservationPaid(tx, { intentId: news.intentId, orderId: news.orderId }));
      const reservation = reservationId ? await this.reservations.lock(tx, reservationId) : undefined;
      const order = reservation && (await this.orders.lockOfReservation(tx, reservation.id));
      if (!order) return 'unknown intent';
      if (news.outcome === 'succeeded') return this.paid(tx, await this.withIntent(tx, order, news), reservation, news);
      if (news.outcome === 'failed') await this.orders.note(tx, order.id, 'payment_failed');
      return 'noted';
    });
  }

  private async paid(tx: Transaction, order: Order, reservation: Reservation, news: PaymentNews): Promise<Settled> {
    const paid = { amountCents: news.amountCents ?? order.totalCents, currency: news.currency?.toUpperCase() ?? '' };
    const paidExactly = paid.amountCents === order.totalCents && paid.currency === order.currency;
    const isOpen = order.status !== 'completed' && order.status !== 'refunded';
    const hasSeats = isOpen && paidExactly && (await this.hasSeats(tx, order, reservation));
    const outcome = afterPayment({ status: order.status, paidExactly, hasSeats });
    if (outcome === 'nothing') return 'noted';
    if (outcome === 'complete') return this.complete(tx, order, reservation);
    await this.orders.setStatus(tx, order.id, 'refunded', [
      'payment_succeeded',
      paidExactly ? 'seats_gone' : 'payment_mismatch',
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
    await this.orders.setStatus(tx, order.id, 'completed', ['payment_succeeded', 'completed']);
    await this.consequences.completed(tx, order, reservation);
    for (const other of reservation.sessionToken ? await this.reservations.othersInWindow(tx, reservation) : []) {
      await this.reservations.setStatus(tx, other, 'released');
      await this.reservations.freeSeats(tx, other);
    }
    return 'completed';
  }

  /** Nobody can pay for this order any more, so nobody waits for its seats. */
  private async giveSeatsBack(tx: Transaction, reservation: Reservation): Promise<void> {
    if (reservation.status !== 'ordered') return;
    await this.reservations.setStatus(tx, reservation.id, 'released');
    await this.reservations.freeSeats(tx, reservation.id);
  }

  /** The provider may speak before its answer to us was recorded; without the intent nothing could be given back. */
  private async withIntent(tx: Transaction, order: Order, { intentId }: PaymentNews): Promise<Order> {
    if (order.payment.intentId !== null || !intentId) return order;
    const payment = { ...order.payment, intentId };
    await this.orders.setIntent(tx, order.id, payment);
    return { ...order, payment };
  }
}
