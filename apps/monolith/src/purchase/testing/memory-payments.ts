import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Money } from '#domain/shared/money';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { Order } from '../application/ports.ts';
import { OrderConsequences, Payments, type CompletedOrder } from '../checkout/application/ports.ts';
import { tables, type OutboxRow } from './memory-tables.ts';

/** The provider's own books: they are the oracle for what was paid and what went back. */
export interface BookedIntent {
  readonly intentId: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  status: 'open' | 'succeeded' | 'canceled';
  captured: Money | undefined;
  /** By key: the same one twice is one refund. */
  readonly refunds: Map<string, number>;
}

/** Far away: its answers get lost with the process that asked. Same order, same intent, however often it is asked. */
export class MemoryPayments extends Payments {
  readonly intents = new Map<string, BookedIntent>();
  refused = 0;

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly transactions: SimulatedTransactions,
    /** Asked for each call: a provider that refuses an order once may take it the next time. */
    private readonly refuses: () => boolean = () => false,
  ) {
    super();
  }

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<{
    provider: string;
    intentId: string;
    clientSecret: string;
  }> {
    this.transactions.mustBeOutside('a payment intent');
    await this.db.scheduler.step(`asks the provider for an intent of ${order.orderId}`);
    if (order.amountCents === 0) throw new Error(`the provider is asked for 0 cents by ${order.orderId}`);
    const intentId = `pi-${order.orderId}`;
    if (!this.intents.has(intentId) && this.refuses()) {
      this.refused += 1;
      await this.db.scheduler.step(`hears that ${order.orderId} is refused`);
      throw new DomainError('PAYMENT_REFUSED', 'The provider refuses this payment.', { reason: 'amount_too_small' });
    }
    if (!this.intents.has(intentId))
      this.intents.set(intentId, { ...order, intentId, status: 'open', captured: undefined, refunds: new Map() });
    await this.db.scheduler.step(`hears of intent ${intentId}`);
    return { provider: 'simulated', intentId, clientSecret: 'secret' };
  }

  /** What a fan's card does; undefined when the intent is not to be paid any more. */
  pay(intentId: string, amount?: Money): Money | undefined {
    const intent = this.intents.get(intentId);
    if (intent?.status !== 'open') return undefined;
    intent.status = 'succeeded';
    intent.captured = amount ?? { amountCents: intent.amountCents, currency: intent.currency };
    return intent.captured;
  }

  carryOut(command: NonNullable<OutboxRow['payment']>): void {
    const intent = this.intents.get(command.intentId);
    if (!intent) throw new Error(`the provider does not know ${command.intentId}`);
    if (command.kind === 'refund') intent.refunds.set(command.key, command.amountCents);
    else if (intent.status === 'open') intent.status = 'canceled';
  }
}

/** Tickets, the end of the turn and the commands to the provider, as rows of the deciding transaction. */
export class MemoryOrderConsequences extends OrderConsequences {
  constructor(private readonly db: SimulatedDatabase) {
    super();
  }

  async completed(tx: Transaction, completed: readonly CompletedOrder[]): Promise<void> {
    const open = inside(tx);
    await open.statement(`issues the tickets of ${completed.map(({ order }) => order.id).join(' ')}`);
    for (const { order, reservation } of completed) {
      for (const { seatId } of reservation.seats) {
        const id = this.db.scheduler.newId('ticket');
        await open.insertNew(tables.ticketOfSeat, seatId, { ticketId: id });
        await open.put(tables.tickets, id, { id, matchId: order.matchId, seatId, orderId: order.id, userId: order.userId });
      }
    }
    const used = completed.flatMap(({ reservation }) => reservation.sessionToken ?? []);
    if (used.length > 0) await open.statement(`ends turns ${used.join(' ')}`);
    for (const token of used)
      if (open.get(tables.windows, token)?.endReason === null)
        await open.change(tables.windows, token, { endReason: 'completed' });
    await this.tell(
      tx,
      completed.map(({ order }) => ({ event: 'order.completed', aggregateId: order.id })),
    );
  }

  async refunded(tx: Transaction, order: Order, paid: Money): Promise<void> {
    const { intentId } = order.payment;
    if (intentId === null) throw new Error(`order ${order.id} was paid without an intent`);
    const payment = { kind: 'refund', intentId, amountCents: paid.amountCents, key: `refund-${order.id}` } as const;
    await this.tell(tx, [{ event: 'order.refunded', aggregateId: order.id, payment }]);
  }

  async cancelled(tx: Transaction, order: Order): Promise<void> {
    const { intentId } = order.payment;
    if (intentId)
      await this.tell(tx, [{ event: 'order.cancelled', aggregateId: order.id, payment: { kind: 'cancel', intentId } }]);
  }

  private async tell(tx: Transaction, messages: readonly Omit<OutboxRow, 'id'>[]): Promise<void> {
    await inside(tx).statement(`writes to the outbox`);
    for (const message of messages) {
      const id = this.db.scheduler.newId('message');
      await inside(tx).put(tables.outbox, id, { id, ...message });
    }
  }
}
