import type { AlertOperators } from '#domain/notification/alert-operators';
import type { Logger } from '#platform/logging/logger';
import { alertBody } from '#messaging/sending/alerts';
import type { ProviderCalls } from '#messaging/sending/provider-calls';

const TIMEOUT_MS = 5000;

/** Posts alerts to ALERT_WEBHOOK_URL in a form that Slack and similar services accept. Without the setting alerts are only logged. */
export class OperatorsWebhook {
  constructor(
    private readonly url: string | undefined,
    private readonly calls: ProviderCalls,
    private readonly logger: Logger,
  ) {}

  /** Throws if the webhook did not accept the alert. An alert may be sent twice, with the same `alertId`. */
  async send(alert: AlertOperators, alertId: string): Promise<void> {
    this.logger.error({ alert: alert.about }, alert.text);
    if (!this.url) return;
    const headers = { 'idempotency-key': alertId };
    await this.calls.post({ url: this.url, headers, body: alertBody(alert), timeoutMs: TIMEOUT_MS });
  }
}
