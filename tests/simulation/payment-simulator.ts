import { DomainError } from '#domain/shared/domain-error';
import type { PaymentReport } from '../../apps/monolith/src/purchase/settlement/application/ports.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { HOLD_MS, type SimulatedSystem } from './replicas.ts';

/** Simulates the payment provider: charges cards, and sends each payment event (sometimes twice) until a replica accepts it. */
export class PaymentSimulator {
  private events = 0;
  /** Number of payment events that no replica has accepted yet. */
  private pendingEvents = 0;

  constructor(
    private readonly system: SimulatedSystem,
    private readonly report: (fault: string) => void,
  ) {}

  get isIdle(): boolean {
    return this.pendingEvents === 0;
  }

  /** Pays a payment intent. At random a card is refused first, or a wrong amount or currency is captured. */
  async pay(intentId: string): Promise<void> {
    const { payments, scheduler } = this.system;
    const { random } = scheduler;
    if (random.chance(0.2)) {
      const { refusedCards } = this.system;
      const orderId = intentId.slice('pi-'.length);
      refusedCards.set(orderId, (refusedCards.get(orderId) ?? 0) + 1);
      this.sendEvent(intentId, 'failed', undefined);
    }
    await scheduler.step(`pays ${intentId}`);
    const intent = payments.intents.get(intentId);
    if (!intent) return this.report(`I13: an answer named intent ${intentId}, which the provider does not know`);
    const wrongCapture = random.pick([
      { amountCents: intent.amountCents - 1, currency: 'EUR' },
      { amountCents: intent.amountCents, currency: 'USD' },
    ]);
    const captured = payments.pay(intentId, random.chance(0.04) ? wrongCapture : undefined);
    if (captured) this.sendEvent(intentId, 'succeeded', captured);
  }

  /** Pays as soon as the provider knows the intent, which may be before the fan gets the answer to the checkout. */
  async payWhenPossible(reservationId: string): Promise<void> {
    const { db, payments, scheduler } = this.system;
    const findIntent = () => {
      const order = db.read(tables.orderOfReservation, reservationId);
      return order && payments.intents.get(`pi-${order.orderId}`);
    };
    await scheduler.until('waits for the intent', () => findIntent() !== undefined, scheduler.nowMs + HOLD_MS);
    const intent = findIntent();
    if (intent) await this.pay(intent.intentId);
  }

  /** Sends a payment event once or twice. Each copy is sent again until a replica accepts it. */
  private sendEvent(
    intentId: string,
    outcome: PaymentReport['outcome'],
    captured: { amountCents: number; currency: string } | undefined,
  ): void {
    this.events += 1;
    const report: PaymentReport = {
      eventId: `evt${this.events}`,
      type: `payment_intent.${outcome}`,
      intentId,
      orderId: intentId.slice('pi-'.length),
      outcome,
      amountCents: captured?.amountCents,
      currency: captured?.currency.toLowerCase(),
    };
    const { random } = this.system.scheduler;
    const copies = random.chance(0.25) ? 2 : 1;
    for (let copy = 1; copy <= copies; copy += 1) {
      this.pendingEvents += 1;
      this.system.scheduler.spawn(`event ${report.eventId}`, undefined, () => this.deliver(report));
    }
  }

  private async deliver(report: PaymentReport): Promise<void> {
    const { scheduler, style } = this.system;
    const { random } = scheduler;
    if (random.chance(style.lastMoment)) await scheduler.sleepUntil(scheduler.nextExpiry() - 1);
    else await scheduler.sleep(random.pick([0, 0, 1, random.int(HOLD_MS), 2 * HOLD_MS]));
    for (let attempt = 1; ; attempt += 1) {
      const replica = this.system.anyReplica();
      const task = scheduler.spawn(`settles ${report.eventId}`, replica, () => replica.settlePayment.execute(report));
      await scheduler.finished(task);
      if (task.state === 'done') {
        if (!this.system.db.read(tables.inbox, report.eventId))
          this.report(`I6: ${report.eventId} is settled, but not in the inbox`);
        break;
      }
      if (task.state === 'failed' && !(task.error instanceof DomainError && task.error.code === 'LOCK_TIMEOUT'))
        this.report(`I13: ${report.eventId} failed: ${String(task.error)}`);
      if (attempt === 8) {
        this.report(`I12: ${report.eventId} could not be delivered`);
        break;
      }
      await scheduler.sleep(random.int(100));
    }
    this.pendingEvents -= 1;
  }
}
