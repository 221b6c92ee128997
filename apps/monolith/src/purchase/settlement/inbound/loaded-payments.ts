import type { Logger } from '#platform/logging/logger';
import type { PaymentApi } from '../../../payment/payment.api.ts';
import type { SettlePayment } from '../application/settle-payment.ts';
import { loggedOrder } from './logged-order.ts';

/**
 * Applies payment events from the provider's list of events, which the event loader fetches in case webhooks fail. An event that also
 * arrives by webhook takes effect only once.
 */
export class LoadedPayments {
  constructor(
    private readonly payments: PaymentApi,
    private readonly settlePayment: SettlePayment,
    private readonly logger: Logger,
  ) {}

  /** `loaded` has the format of the provider's event list. Throws `RequestRefused` if it is not a valid event. */
  async apply(loaded: unknown): Promise<void> {
    const event = this.payments.readEvent(loaded);
    const { result: settled, order } = await this.settlePayment.execute(event);
    if (settled === 'repeated') return;
    const facts = { event_id: event.eventId, type: event.type, intent_id: event.intentId, settled, ...loggedOrder(order) };
    if (event.outcome === 'succeeded' && settled === 'unknown intent') this.logger.error(facts, 'payment for an unknown order');
    else if (event.outcome === 'other') this.logger.info(facts, 'payment event');
    else this.logger.warn(facts, 'payment event that no webhook delivered');
  }
}
