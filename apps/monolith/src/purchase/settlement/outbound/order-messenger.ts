import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { Money } from '#domain/shared/money';
import type { FansApi } from '../../../fans/fans.api.ts';
import { PAYMENTS_DESTINATION, type PaymentCommand } from '../../../payment/payment.api.ts';
import type { IssuedTicket } from '../../../ticketing/ticketing.api.ts';
import { WAITING_ROOM_DESTINATION, type WaitingRoomMessage } from '../../../waiting-room/waiting-room.api.ts';
import type { MatchesForSale, Order } from '../../application/ports.ts';
import type { CompletedOrder } from '../../checkout/application/ports.ts';
import { goneNotice, orderConfirmation, refundNotice, ticketDelivery, type ToldOrder } from './order-messages.ts';

/** Who has to hear of an order: the fan by mail and push, the waiting room, the payment provider. All through the outbox. */
export class OrderMessenger {
  constructor(
    private readonly fans: FansApi,
    private readonly matches: MatchesForSale,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** `issue` signs its tickets while the database looks up who they are for. */
  async completed(
    tx: Transaction,
    completed: readonly CompletedOrder[],
    issue: () => Promise<ReadonlyMap<string, readonly IssuedTicket[]>>,
  ): Promise<void> {
    const orders = completed.map(({ order }) => order);
    const [told, gates, tickets] = await Promise.all([
      this.told(tx, orders),
      forEachMatch(orders, (matchId) => this.matches.gates(matchId, tx)),
      issue(),
    ]);
    const messages = completed.flatMap(({ order, reservation }, index) => {
      const one = told[index];
      if (!one) return [];
      const delivery = ticketDelivery(one, tickets.get(order.id) ?? [], gates.get(order.matchId) ?? new Map());
      const turnIsUsed = reservation.sessionToken ? [this.turnIsUsed(order, reservation.sessionToken)] : [];
      return [orderConfirmation(one, reservation), ...delivery, ...turnIsUsed];
    });
    await this.outbox.append(tx, messages);
  }

  /** `key`: what the provider recognises a repetition by. */
  async refunded(tx: Transaction, order: Order, paid: Money, key: string): Promise<void> {
    // A seat may be given away, and no provider gives back nothing.
    const commands = paid.amountCents > 0 ? [this.moneyBack(order, paid, key)] : [];
    const told = await this.told(tx, [order]);
    await this.outbox.append(tx, [...commands, ...told.map((one) => refundNotice(one, paid))]);
  }

  /** To whoever of these had their ticket from the buyer, and has told an address. */
  async givenAndGone(tx: Transaction, order: Order, tickets: readonly { readonly userId: string }[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { userId } of tickets) if (userId !== order.userId) counts.set(userId, (counts.get(userId) ?? 0) + 1);
    if (counts.size === 0) return;
    const contacts = await this.fans.contacts(tx, [...counts.keys()]);
    const [told] = await this.told(tx, [order]);
    const mails = [...counts].flatMap(([userId, count]) => {
      const contact = contacts.get(userId);
      return told && contact?.email ? [goneNotice({ ...told, contact }, contact.email, count)] : [];
    });
    await this.outbox.append(tx, mails);
  }

  async cancelled(tx: Transaction, order: Order): Promise<void> {
    if (!order.payment.intentId) return;
    await this.outbox.append(tx, [this.payment(order, 'order.cancelled', { kind: 'cancel', intentId: order.payment.intentId })]);
  }

  private moneyBack(order: Order, { amountCents }: Money, key: string): OutboxMessage {
    const { intentId } = order.payment;
    if (intentId === null) throw new Error(`order ${order.id} was paid without an intent`);
    return this.payment(order, 'order.refunded', { kind: 'refund', intentId, amountCents, key });
  }

  private payment(order: Order, event: string, body: PaymentCommand): OutboxMessage {
    return { id: this.ids.next(), destination: PAYMENTS_DESTINATION, event, aggregateId: order.id, body };
  }

  private turnIsUsed(order: Order, sessionToken: string): OutboxMessage {
    const body: WaitingRoomMessage = {
      kind: 'complete',
      match_id: order.matchId,
      user_id: order.userId,
      session_token: sessionToken,
    };
    return { id: this.ids.next(), destination: WAITING_ROOM_DESTINATION, event: 'order.completed', body };
  }

  /** In their order. */
  private async told(tx: Transaction, orders: readonly Order[]): Promise<readonly ToldOrder[]> {
    const [contacts, matches] = await Promise.all([
      this.fans.contacts(
        tx,
        orders.map(({ userId }) => userId),
      ),
      forEachMatch(orders, (matchId) => this.matches.match(matchId, tx)),
    ]);
    return orders.map((order) => {
      const match = matches.get(order.matchId);
      if (!match) throw new Error(`order ${order.id} is for a match that does not exist`);
      const contact = contacts.get(order.userId) ?? { userId: order.userId, locale: 'hr' as const, fcmTokens: [] };
      return { order, match, contact, now: this.clock.now(), nextId: () => this.ids.next() };
    });
  }
}

async function forEachMatch<V>(orders: readonly Order[], find: (matchId: string) => Promise<V>): Promise<Map<string, V>> {
  const matchIds = [...new Set(orders.map(({ matchId }) => matchId))];
  const found = await Promise.all(matchIds.map(find));
  return new Map(matchIds.map((matchId, index) => [matchId, found[index] as V]));
}
