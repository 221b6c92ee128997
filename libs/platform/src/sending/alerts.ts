import { alertOperators, type AlertOperators, type AlertWay } from '#domain/notification/alert-operators';
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
  /** By these only: a mail about alert mails that do not leave would be the next one of them. */
  readonly notBy?: AlertWay;
}

export interface AlertOptions {
  readonly ways: readonly AlertWay[];
  /** Writes them down as background jobs: they outlive the process, and are tried again until somebody has taken them. */
  readonly keep: (alerts: readonly AlertOperators[]) => Promise<void>;
  /** Called at once when they cannot be written down. */
  readonly webhookUrl?: string;
  readonly now?: () => number;
}

/**
 * Tells people: always into the log, and by the ways they want (ALERT_WEBHOOK_URL, ALERT_EMAIL). An alert that does not get
 * through is an error in the log and nothing more: it must not stop what it reports on.
 */
export class Alerts {
  private readonly lastTold = new Map<string, { at: number; unsaid: number }>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly now: () => number;

  constructor(
    private readonly logger: Logger,
    private readonly options: AlertOptions,
  ) {
    this.now = options.now ?? Date.now;
  }

  raise({ about, text, notBy }: Alert): void {
    this.logger.error({ alert: about }, text);
    const ways = this.options.ways.filter((way) => way !== notBy);
    if (ways.length === 0) return;
    const last = this.lastTold.get(about);
    if (last && this.now() - last.at < QUIET_MS) {
      last.unsaid += 1;
      return;
    }
    this.lastTold.set(about, { at: this.now(), unsaid: 0 });
    const repeated = last && last.unsaid > 0 ? ` (and ${last.unsaid} more since the last alert)` : '';
    const said = { about, text: `${text}${repeated}` };
    const telling = this.tell(alertOperators(said, ways, new Date(this.now())));
    this.underWay.add(telling);
    void telling.finally(() => this.underWay.delete(telling));
  }

  /** What is being told is told to the end. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async tell(alerts: readonly AlertOperators[]): Promise<void> {
    try {
      await this.options.keep(alerts);
    } catch (error) {
      this.logger.error({ alert: alerts[0]?.about, err: error }, 'the alert could not be kept; the webhook is called directly');
      const byWebhook = alerts.find(({ by }) => by === 'webhook');
      if (byWebhook && this.options.webhookUrl) await this.call(this.options.webhookUrl, byWebhook);
    }
  }

  private async call(url: string, alert: AlertOperators): Promise<void> {
    try {
      const { status } = await post({ url, ...alertRequest(alert), timeoutMs: TIMEOUT_MS });
      if (status >= 300) this.logger.error({ alert: alert.about, status }, 'the alert webhook refused');
    } catch (error) {
      this.logger.error({ alert: alert.about, err: error }, 'the alert webhook did not answer');
    }
  }
}

/** `{text, …}`, which Slack and its like take as it is. */
export function alertRequest({ about, text, at }: AlertOperators): { headers: Record<string, string>; body: string } {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: `Tribina: ${text}`, alert: about, at }),
  };
}
