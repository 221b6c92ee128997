import type { AlertOperators } from '#domain/notification/alert-operators';
import type { Logger } from '#platform/logging/logger';
import { alertRequest } from '#platform/sending/alerts';
import type { VendorCalls } from '#platform/sending/vendor-calls';
import { OperatorsWebhook } from '../application/ports.ts';

const TIMEOUT_MS = 5000;

/** ALERT_WEBHOOK_URL, in the form that Slack and its like take as it is; without one, the log. */
export class HttpOperatorsWebhook extends OperatorsWebhook {
  constructor(
    private readonly url: string | undefined,
    private readonly calls: VendorCalls,
    private readonly logger: Logger,
  ) {
    super();
  }

  async tell(alert: AlertOperators, alertId: string): Promise<void> {
    this.logger.error({ alert: alert.about }, alert.text);
    if (!this.url) return;
    const { headers, body } = alertRequest(alert);
    await this.calls.post({ url: this.url, headers: { ...headers, 'idempotency-key': alertId }, body, timeoutMs: TIMEOUT_MS });
  }
}
