import type { AlertOperators } from '#domain/notification/alert-operators';
import type { Logger } from '#platform/logging/logger';
import { OperatorsWebhook } from '../application/ports.ts';

const TIMEOUT_MS = 5000;

/** ALERT_WEBHOOK_URL, in the form that Slack and its like take as it is; without one, the log. */
export class HttpOperatorsWebhook extends OperatorsWebhook {
  constructor(
    private readonly url: string | undefined,
    private readonly logger: Logger,
  ) {
    super();
  }

  async tell({ about, text, at }: AlertOperators, alertId: string): Promise<void> {
    this.logger.error({ alert: about }, text);
    if (!this.url) return;
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': alertId },
      body: JSON.stringify({ text: `Tribina: ${text}`, alert: about, service: 'monolith', at }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the alert webhook answered ${answer.status}`);
  }
}
