import type { Logger } from '../logging/logger.ts';
import { post } from './http-call.ts';

const TIMEOUT_MS = 5000;
/** The same alert again within this is only logged: an outage of the provider is one message, not ten thousand. */
const QUIET_MS = 60_000;

export interface Alert {
  /** What kind of trouble, for whoever sorts them: `dead letter email refund`. */
  readonly about: string;
  /** One sentence; never an address, a token or a name. */
  readonly text: string;
}

/**
 * Tells people: always into the log, and to ALERT_WEBHOOK_URL as `{text, …}`, which Slack and its like take as it is. An alert
 * that does not get through is an error in the log and nothing more: it must not stop what it reports on.
 */
export class Alerts {
  private readonly lastTold = new Map<string, { at: number; unsaid: number }>();
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly logger: Logger,
    private readonly webhookUrl: string | undefined,
    private readonly now: () => number = Date.now,
  ) {}

  raise({ about, text }: Alert): void {
    this.logger.error({ alert: about }, text);
    if (!this.webhookUrl) return;
    const last = this.lastTold.get(about);
    if (last && this.now() - last.at < QUIET_MS) {
      last.unsaid += 1;
      return;
    }
    this.lastTold.set(about, { at: this.now(), unsaid: 0 });
    const repeated = last && last.unsaid > 0 ? ` (and ${last.unsaid} more since the last alert)` : '';
    const telling = this.tell(this.webhookUrl, { about, text: `Tribina notification worker: ${text}${repeated}` });
    this.underWay.add(telling);
    void telling.finally(() => this.underWay.delete(telling));
  }

  /** What is being told is told to the end. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async tell(url: string, alert: Alert): Promise<void> {
    const body = JSON.stringify({
      text: alert.text,
      alert: alert.about,
      service: 'notification-worker',
      at: new Date().toISOString(),
    });
    try {
      const { status } = await post({ url, headers: { 'content-type': 'application/json' }, body, timeoutMs: TIMEOUT_MS });
      if (status >= 300) this.logger.error({ alert: alert.about, status }, 'the alert webhook refused');
    } catch (error) {
      this.logger.error({ alert: alert.about, err: error }, 'the alert webhook did not answer');
    }
  }
}
