import { alertOperators, type AlertOperators, type AlertChannel } from '#domain/notification/alert-operators';
import type { Logger } from '#platform/logging/logger';
import type { AlertNote, AlertNotes } from './alert-notes.ts';
import { post } from './post-to-provider.ts';

const TIMEOUT_MS = 5000;
const RETRY_MS = 5000;
/** While the database is down: minimum time between two direct calls of the webhook about the same kind of problem. */
const MIN_CALL_INTERVAL_MS = 30_000;
const BATCH_SIZE = 500;
/**
 * Maximum number of alerts in memory. Above it an alert is dropped if its `subject` names a failed job or row, because AlertUpkeep
 * will find that failure in the database or in Redis.
 */
const MAX_WAITING = 10_000;

/** A problem that operators must know about. */
export interface Alert {
  /** The kind of problem, by which alerts are grouped, for example `dead letter email refund`. */
  readonly about: string;
  /** One sentence without personal data or secrets: no address, token or name. */
  readonly text: string;
  /** An alert channel that must not be used: when alert mails cannot be sent, a mail about that would fail, too. */
  readonly excludedChannel?: AlertChannel | undefined;
  /** Identifies the failed item (job or row), if other processes may report the same failure. */
  readonly subject?: string | undefined;
}

/** What Alerts needs. `ways` are the configured alert channels (webhook, mail). */
export interface AlertOptions {
  readonly ways: readonly AlertChannel[];
  /** Stores alerts as notes in PostgreSQL, so that they survive the process and are sent until they are delivered. */
  readonly notes: Pick<AlertNotes, 'add' | 'createDueAlerts'>;
  /** The webhook, which is called directly when the notes cannot be stored. */
  readonly webhookUrl?: string | undefined;
  readonly now?: () => number;
  readonly retryMs?: number;
}

interface WaitingAlert extends Alert {
  /** True when the webhook has received the alert in a direct call, because the database was down. */
  isSentToWebhook: boolean;
}

/**
 * Reports problems to operators: always in the log, and through the configured channels (ALERT_WEBHOOK_URL, ALERT_EMAIL). `raise`
 * never blocks and never throws, so that an alert cannot stop the code that reports a problem. Alerts that cannot be stored wait
 * in memory until the database is back.
 */
export class Alerts {
  private readonly waiting: WaitingAlert[] = [];
  private readonly calledAt = new Map<string, number>();
  private readonly now: () => number;
  private storing: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly options: AlertOptions,
  ) {
    this.now = options.now ?? Date.now;
  }

  /** Logs the alert and has it sent to the operators in the background. */
  raise(alert: Alert): void {
    this.logger.error({ alert: alert.about }, alert.text);
    if (this.options.ways.every((way) => way === alert.excludedChannel)) return;
    if (this.waiting.length >= MAX_WAITING && alert.subject !== undefined) return;
    this.waiting.push({ ...alert, isSentToWebhook: false });
    this.store();
  }

  /** Tries to store the alerts in memory. Resolves when they are stored, or when one more attempt to store them has failed. */
  async settled(): Promise<void> {
    await this.storing;
    if (this.waiting.length > 0) await this.storeAll();
    clearTimeout(this.retry);
  }

  private store(): void {
    if (this.storing) return;
    clearTimeout(this.retry);
    this.retry = undefined;
    this.storing = this.storeAll().finally(() => {
      this.storing = undefined;
      if (this.waiting.length > 0 && !this.retry) this.store();
    });
  }

  private async storeAll(): Promise<void> {
    const stored: WaitingAlert[] = [];
    try {
      while (this.waiting.length > 0) {
        const batch = this.waiting.slice(0, BATCH_SIZE);
        await this.options.notes.add(batch.flatMap((alert) => notesOf(alert, this.options.ways)));
        stored.push(...this.waiting.splice(0, batch.length));
      }
      await this.options.notes.createDueAlerts();
    } catch (error) {
      const alert = (this.waiting[0] ?? stored[0])?.about;
      this.logger.error(
        { alert, err: error },
        'alerts could not be stored and will be stored later; the webhook is called directly',
      );
      await this.callDirectly([...stored, ...this.waiting]);
      if (this.waiting.length > 0) this.retry = setTimeout(() => this.store(), this.options.retryMs ?? RETRY_MS).unref();
    }
  }

  private async callDirectly(alerts: readonly WaitingAlert[]): Promise<void> {
    const { webhookUrl } = this.options;
    if (!webhookUrl) return;
    const unreported = alerts.filter(({ excludedChannel, isSentToWebhook }) => excludedChannel !== 'webhook' && !isSentToWebhook);
    for (const about of new Set(unreported.map((alert) => alert.about))) {
      if (this.now() - (this.calledAt.get(about) ?? -Infinity) < MIN_CALL_INTERVAL_MS) continue;
      this.calledAt.set(about, this.now());
      const same = unreported.filter((alert) => alert.about === about);
      const texts = same.map(({ text }) => text);
      const isAccepted = await this.call(webhookUrl, alertOperators({ about, texts }, 'webhook', new Date(this.now())));
      for (const alert of same) alert.isSentToWebhook = isAccepted;
    }
  }

  private async call(url: string, alert: AlertOperators): Promise<boolean> {
    try {
      const { status } = await post({ url, body: alertBody(alert), timeoutMs: TIMEOUT_MS });
      if (status >= 300) this.logger.error({ alert: alert.about, status }, 'the alert webhook refused an alert');
      return status < 300;
    } catch (error) {
      this.logger.error({ alert: alert.about, err: error }, 'the alert webhook did not answer');
      return false;
    }
  }
}

/**
 * Returns the notes (rows of the table `alert_notes`) of an alert, one for each channel. The note for a channel that must not be
 * used counts as reported, so that AlertUpkeep does not find the failure a second time.
 */
export function notesOf(
  { about, text, subject, excludedChannel, isSentToWebhook }: Alert & { isSentToWebhook?: boolean },
  ways: readonly AlertChannel[],
): AlertNote[] {
  const isReported = (way: AlertChannel): boolean => way === excludedChannel || (way === 'webhook' && isSentToWebhook === true);
  return ways.map((way) => ({ way, about, text, subject, isReported: isReported(way) }));
}

/** The body of a request to the webhook: `{text, …}`, which Slack and similar services accept. */
export function alertBody({ about, text, count = 1, at }: AlertOperators): string {
  return JSON.stringify({ text: `Tribina: ${text}`, alert: about, count, at });
}
