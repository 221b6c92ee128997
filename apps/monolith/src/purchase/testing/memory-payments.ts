import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Money } from '#domain/shared/money';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { Order } from '../application/sale-ports.ts';
import { OrderConsequences, type CompletedOrder, type Payments } from '../checkout/application/ports.ts';
import { tables, type OutboxRow } from './memory-tables.ts';

/** A payment intent as the simulated provider stores it. Tests compare the orders with its captured amount and its refunds. */
export interface ProviderIntent {
  readonly intentId: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  status: 'open' | 'succeeded' | 'canceled';
  captured: Money | undefined;
  /** Idempotency key → cents. A repeated key adds no second refund. */
  readonly refunds: Map<string, number>;
}

/**
 * The simulated payment provider. The same order always gets the same intent. A process that dies during a call loses the answer.
 */
export class MemoryPayments implements Payments {
  readonly intents = new Map<string, ProviderIntent>();
  refused = 0;

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly transactions: SimulatedTransactions,
    /** Called for each new intent: the provider may refuse an order once and accept it the next time. */
    private readonly mustRefuse: () => boolean = () => false,
  ) {}

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<{
    provider: string;
    intentId: string;
    clientSecret: string;
  }> {
    this.transactions.mustBeOutside('a payment intent');
    await this.db.scheduler.step(`asks the provider for an intent of ${order.orderId}`);
    if (order.amountCents === 0) throw new Error(`order ${order.orderId} asks the provider for 0 cents`);
    const intentId = `pi-${order.orderId}`;
    if (!this.intents.has(intentId) && this.mustRefuse()) {
      this.refused += 1;
      await this.db.scheduler.step(`receives the refusal of ${order.orderId}`);
      throw new DomainError('PAYMENT_REFUSED', 'The provider refuses this payment.', { reason: 'amount_too_small' });
    }
    if (!this.intents.has(intentId))
      this.intents.set(intentId, { ...order, intentId, status: 'open', captured: undefined, refunds: new Map() });
    await this.db.scheduler.step(`receives intent ${intentId}`);
    return { provider: 'simulated', intentId, clientSecret: 'secret' };
  }

  /** Pays an intent with a fan's card. Undefined if the intent was paid or cancelled before. */
  pay(intentId: string, amount?: Money): Money | undefined {
    const intent = this.intents.get(intentId);
    if (intent?.status !== 'open') return undefined;
    intent.status = 'succeeded';
    intent.captured = amount ?? { amountCents: intent.amountCents, currency: intent.currency };
    return intent.captured;
  }

  /** Refunds or cancels a payment, as a message from the outbox asks for. */
  carryOut(command: NonNullable<OutboxRow['payment']>): void {
    const intent = this.intents.get(command.intentId);
    if (!intent) throw new Error(`the provider does not know ${command.intentId}`);
    if (command.kind === 'refund') intent.refunds.set(command.key, command.amountCents);
    else if (intent.status === 'open') intent.status = 'canceled';
  }
}

/**
 * Writes what follows from a decision about an order, in the same simulated transaction: tickets, the end of the turn, commands to
 * the provider.
 */
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
    const sessionTokens = completed.flatMap(({ reservation }) => reservation.sessionToken ?? []);
    if (sessionTokens.length > 0) await open.statement(`ends turns ${sessionTokens.join(' ')}`);
    for (const token of sessionTokens)
      if (open.get(tables.windows, token)?.endReason === null)
        await open.change(tables.windows, token, { endReason: 'completed' });
    await this.writeMessages(
      tx,
      completed.map(({ order }) => ({ event: 'order.completed', aggregateId: order.id })),
    );
  }

  async refunded(tx: Transaction, order: Order, paid: Money): Promise<void> {
    const { intentId } = order.payment;
    if (intentId === null) throw new Error(`order ${order.id} was paid without an intent`);
    const payment = { kind: 'refund', intentId, amountCents: paid.amountCents, key: `refund-${order.id}` } as const;
    await this.writeMessages(tx, [{ event: 'order.refunded', aggregateId: order.id, payment }]);
  }

  async cancelled(tx: Transaction, order: Order): Promise<void> {
    const { intentId } = order.payment;
    if (intentId)
      await this.writeMessages(tx, [{ event: 'order.cancelled', aggregateId: order.id, payment: { kind: 'cancel', intentId } }]);
  }

  private async writeMessages(tx: Transaction, messages: readonly Omit<OutboxRow, 'id'>[]): Promise<void> {
    await inside(tx).statement(`writes to the outbox`);
    for (const message of messages) {
      const id = this.db.scheduler.newId('message');
      await inside(tx).put(tables.outbox, id, { id, ...message });
    }
  }
}
