import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Money } from '#domain/shared/money';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { PaymentCommand, PaymentIntent } from '../../payment/payment.api.ts';
import type { Order } from '../application/sale-ports.ts';
import { OrderConsequences, type CompletedOrder, type Payments } from '../checkout/application/ports.ts';
import { tables } from './memory-tables.ts';

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

  async createIntent(order: { orderId: string; amountCents: number; currency: string }): Promise<PaymentIntent> {
    this.transactions.mustBeOutside('a payment intent');
    await this.db.scheduler.step(`asks the provider for an intent of ${order.orderId}`);
    if (order.amountCents === 0) throw refused(`order ${order.orderId} asks for 0 cents`);
    const intentId = `pi-${order.orderId}`;
    const known = this.intents.get(intentId);
    if (known && known.amountCents !== order.amountCents) throw refused('this order has an intent for another amount');
    if (!known && this.mustRefuse()) {
      this.refused += 1;
      await this.db.scheduler.step(`receives the refusal of ${order.orderId}`);
      throw new DomainError('PAYMENT_REFUSED', 'The provider refuses this payment.', { reason: 'amount_too_small' });
    }
    if (!known) this.intents.set(intentId, { ...order, intentId, status: 'open', captured: undefined, refunds: new Map() });
    await this.db.scheduler.step(`receives intent ${intentId}`);
    return { provider: 'sandbox', intentId, clientSecret: 'secret' };
  }

  /** Pays an intent with a fan's card. Undefined if the intent was paid or cancelled before. */
  pay(intentId: string, amount?: Money): Money | undefined {
    const intent = this.intents.get(intentId);
    if (intent?.status !== 'open') return undefined;
    intent.status = 'succeeded';
    intent.captured = amount ?? { amountCents: intent.amountCents, currency: intent.currency };
    return intent.captured;
  }

  async refund({ intentId, amountCents, key }: { intentId: string; amountCents: number; key: string }): Promise<void> {
    const { captured, refunds } = await this.called('refund', intentId);
    if (refunds.has(key)) return;
    const refundedCents = [...refunds.values()].reduce((sum, cents) => sum + cents, 0);
    if (amountCents > (captured?.amountCents ?? 0) - refundedCents) throw refused('a refund of more than was paid');
    refunds.set(key, amountCents);
  }

  async cancel(intentId: string): Promise<void> {
    const intent = await this.called('cancel', intentId);
    if (intent.status === 'open') intent.status = 'canceled';
  }

  private async called(command: string, intentId: string): Promise<ProviderIntent> {
    this.transactions.mustBeOutside(`a call to ${command} a payment`);
    await this.db.scheduler.step(`tells the provider to ${command} ${intentId}`);
    const intent = this.intents.get(intentId);
    if (!intent) throw refused(`no intent ${intentId}`);
    return intent;
  }
}

const refused = (reason: string): Error => Object.assign(new Error(reason), { name: 'ProviderRefused' });

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
  }

  async refunded(tx: Transaction, order: Order, paid: Money): Promise<void> {
    if (paid.amountCents === 0) return;
    const { intentId } = order.payment;
    if (intentId === null) throw new Error(`order ${order.id} was paid without an intent`);
    const payment = { kind: 'refund', intentId, amountCents: paid.amountCents, key: `refund-${order.id}` } as const;
    await this.writeCommand(tx, 'order.refunded', order, payment);
  }

  async cancelled(tx: Transaction, order: Order): Promise<void> {
    const { intentId } = order.payment;
    if (intentId) await this.writeCommand(tx, 'order.cancelled', order, { kind: 'cancel', intentId });
  }

  private async writeCommand(tx: Transaction, event: string, order: Order, payment: PaymentCommand): Promise<void> {
    await inside(tx).statement(`writes to the outbox`);
    const id = this.db.scheduler.newId('message');
    await inside(tx).put(tables.outbox, id, { id, event, aggregateId: order.id, payment });
  }
}
