import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Origin } from '#application/origin';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { Money } from '#domain/shared/money';
import type { FansApi } from '../../../fans/fans.api.ts';
import { PAYMENTS_DESTINATION, type PaymentCommand } from '../../../payment/payment.api.ts';
import type { IssuedTicket } from '../../../ticketing/ticketing.api.ts';
import { WAITING_ROOM_DESTINATION, type WaitingRoomMessage } from '../../../waiting-room/waiting-room.api.ts';
import type { PartnerEvent, WebhookEvents } from '../../../webhooks/webhook-events.api.ts';
import type { MatchesForSale, Order } from '../../application/sale-ports.ts';
import type { CompletedOrder } from '../../checkout/application/ports.ts';
import { receiverNotice, orderConfirmation, refundNotice, ticketDelivery, type OrderMessageFacts } from './order-messages.ts';

/** The request to which messages belong. */
type Cause = 'checkout' | 'current request';

/**
 * Writes all messages about an order to the outbox: mails and pushes to fans, messages to the waiting room and the payment
 * provider.
 */
export class OrderMessenger {
  constructor(
    private readonly fans: FansApi,
    private readonly matches: MatchesForSale,
    private readonly outbox: Outbox,
    private readonly webhooks: WebhookEvents,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes the messages about completed orders. Their origin is the checkout, not the provider's webhook: a purchase has one id from
   * its checkout to its mail, and orders that are completed together have one transaction but different origins. `issue` creates and signs the tickets; it runs in parallel with the queries for
   * contacts and matches.
   */
  async completed(
    tx: Transaction,
    completed: readonly CompletedOrder[],
    issue: () => Promise<ReadonlyMap<string, readonly IssuedTicket[]>>,
  ): Promise<void> {
    const orders = completed.map(({ order }) => order);
    const [facts, gates, tickets] = await Promise.all([
      this.factsOf(tx, orders, 'checkout'),
      forEachMatch(orders, (matchId) => this.matches.gates(matchId, tx)),
      issue(),
    ]);
    const messages = facts.flatMap((orderFacts, index) => {
      const { order, reservation } = completed[index]!;
      const delivery = ticketDelivery(orderFacts, tickets.get(order.id) ?? [], gates.get(order.matchId) ?? new Map());
      const turnCompleted = reservation.sessionToken ? [this.turnCompleted(order, reservation.sessionToken)] : [];
      return [...orderConfirmation(orderFacts, reservation), ...delivery, ...turnCompleted];
    });
    await this.outbox.append(tx, messages);
    await this.webhooks.tell(tx, completed.map(orderCompleted));
  }

  /**
   * Writes the command that refunds `paid` at the provider, and the mail to the buyer. `key`: idempotency key of the refund.
   * `cause`: the current request is an operator's, or the purchase could not be completed and is refunded by itself.
   */
  async refunded(tx: Transaction, order: Order, paid: Money, { key, cause }: { key: string; cause: Cause }): Promise<void> {
    // For free seats there is nothing to refund at the provider.
    const commands = paid.amountCents > 0 ? [{ ...this.refundCommand(order, paid, key), origin: originOf(order, cause) }] : [];
    const facts = await this.factsOf(tx, [order], cause);
    await this.outbox.append(tx, [...commands, ...facts.flatMap((orderFacts) => refundNotice(orderFacts, paid))]);
    await this.webhooks.tell(tx, [orderRefunded(order, paid)]);
  }

  /** Mails the fans who got these tickets by transfer. Skips the buyer and fans without an email address. */
  async informReceivers(tx: Transaction, order: Order, tickets: readonly { readonly userId: string }[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { userId } of tickets) if (userId !== order.userId) counts.set(userId, (counts.get(userId) ?? 0) + 1);
    if (counts.size === 0) return;
    const contacts = await this.fans.contacts(tx, [...counts.keys()]);
    const [facts] = await this.factsOf(tx, [order], 'current request');
    const mails = [...counts].flatMap(([userId, count]) => {
      const contact = contacts.get(userId);
      return facts && contact?.email ? receiverNotice({ ...facts, contact }, contact.email, count) : [];
    });
    await this.outbox.append(tx, mails);
  }

  async cancelled(tx: Transaction, order: Order): Promise<void> {
    const { intentId } = order.payment;
    if (intentId) await this.outbox.append(tx, [this.payment(order, 'order.cancelled', { kind: 'cancel', intentId })]);
  }

  private refundCommand(order: Order, { amountCents }: Money, key: string): OutboxMessage {
    const { intentId } = order.payment;
    if (intentId === null) throw new Error(`order ${order.id} was paid without an intent`);
    return this.payment(order, 'order.refunded', { kind: 'refund', intentId, amountCents, key });
  }

  private payment(order: Order, event: string, body: PaymentCommand): OutboxMessage {
    return { id: this.ids.next(), destination: PAYMENTS_DESTINATION, event, aggregateId: order.id, body };
  }

  private turnCompleted(order: Order, sessionToken: string): OutboxMessage {
    const { matchId, userId } = order;
    const origin = originOf(order, 'checkout');
    const body: WaitingRoomMessage = { kind: 'complete', match_id: matchId, user_id: userId, session_token: sessionToken };
    return { id: this.ids.next(), destination: WAITING_ROOM_DESTINATION, event: 'order.completed', body, origin };
  }

  /** The data for the messages about each order, in the sequence of `orders`. */
  private async factsOf(tx: Transaction, orders: readonly Order[], cause: Cause): Promise<readonly OrderMessageFacts[]> {
    const userIds = orders.map(({ userId }) => userId);
    const [contacts, matches] = await Promise.all([
      this.fans.contacts(tx, userIds),
      forEachMatch(orders, (matchId) => this.matches.match(matchId, tx)),
    ]);
    return orders.map((order) => {
      const match = matches.get(order.matchId);
      if (!match) throw new Error(`order ${order.id} is for a match that does not exist`);
      const contact = contacts.get(order.userId) ?? { userId: order.userId, locale: 'hr' as const, fcmTokens: [] };
      return { order, match, contact, now: this.clock.now(), nextId: () => this.ids.next(), origin: originOf(order, cause) };
    });
  }
}

function orderCompleted({ order, reservation }: CompletedOrder): PartnerEvent {
  const { id, number, matchId, totalCents, currency } = order;
  const seats = reservation.seats.map((seat) => ({
    seat_id: seat.seatId,
    sector: seat.sector,
    row: seat.row,
    number: seat.number,
    price_cents: seat.priceCents,
  }));
  const data = { order_id: id, number, match_id: matchId, total_cents: totalCents, currency, seats };
  return { type: 'order.completed', subjectId: id, data, origin: originOf(order, 'checkout') };
}

function orderRefunded({ id, number, matchId }: Order, paid: Money): PartnerEvent {
  const data = { order_id: id, number, match_id: matchId, refunded_cents: paid.amountCents, currency: paid.currency };
  return { type: 'order.refunded', subjectId: id, data };
}

/** Undefined: the outbox takes the current request. */
function originOf({ origin }: Order, cause: Cause): Origin | undefined {
  return cause === 'checkout' ? (origin ?? undefined) : undefined;
}

async function forEachMatch<V>(orders: readonly Order[], find: (matchId: string) => Promise<V>): Promise<Map<string, V>> {
  const matchIds = [...new Set(orders.map(({ matchId }) => matchId))];
  const found = await Promise.all(matchIds.map(find));
  return new Map(matchIds.map((matchId, index) => [matchId, found[index] as V]));
}
