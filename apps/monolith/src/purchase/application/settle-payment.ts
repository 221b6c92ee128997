import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { afterPayment } from '#domain/purchase/order';
import type { MatchesForSale, Order, OrderConsequences, Orders, PaymentInbox, Reservation, Reservations } from './ports.ts';

export interface PaymentNews {
  readonly eventId: string;
  readonly type: string;
  readonly intentId: string | undefined;
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'other';
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

export type Settled = 'completed' | 'refunded' | 'noted' | 'repeated' | 'unknown intent';

/**
 * What the provider says about a payment takes effect once, in one transaction with the record of its event. Every
 * captured payment ends as a completed order or goes back in full: hold alive, or over but the same seats still free →
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
      const order = news.intentId ? await this.orders.lockByIntent(tx, news.intentId) : undefined;
      if (!order) return 'unknown intent';
      if (news.outcome === 'succeeded') return this.paid(tx, order, news);
      if (news.outcome === 'failed') await this.orders.note(tx, order.id, 'payment_failed');
      return 'noted';
    });
  }

  private async paid(tx: Transaction, order: Order, news: PaymentNews): Promise<Settled> {
    const reservation = await this.reservations.lock(tx, order.reservationId);
    if (!reservation) throw new Error(`order ${order.id} has no reservation`);
    const paidExactly = news.amountCents === order.totalCents && news.currency?.toUpperCase() === order.currency;
    const open = order.status !== 'completed' && order.status !== 'refunded';
    const match = await this.matches.match(order.matchId, tx);
    const revive = match !== undefined && match.saleStatus !== 'closed';
    const hasSeats = open && paidExactly && (await this.reservations.sellSeats(tx, reservation, { revive }));
    const outcome = afterPayment({ status: order.status, paidExactly, hasSeats });
    if (outcome === 'nothing') return 'noted';
    if (outcome === 'complete') return this.complete(tx, order, reservation);
    await this.orders.setStatus(tx, order.id, 'refunded', ['payment_succeeded', paidExactly ? 'seats_gone' : 'payment_mismatch', 'refunded']);
    await this.consequences.refunded(tx, order);
    return 'refunded';
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
}
