import { alertOperators, type AlertOperators, type AlertWay } from '#domain/notification/alert-operators';
import type { Logger } from '../logging/logger.ts';
import type { AlertNote, AlertNotes } from './alert-notes.ts';
import { post } from './http-call.ts';

const TIMEOUT_MS = 5000;
const RETRY_MS = 5000;
/** Without the database the webhook hears of one kind of trouble this often; then it is told everything since. */
const QUIET_MS = 30_000;
const AT_ONCE = 500;
/** Beyond that a fact with a subject is left to AlertUpkeep, which finds it where it is stored. */
const MOST_WAITING = 10_000;

export interface Alert {
  /** What kind of trouble, for whoever sorts them: `dead letter email refund`. */
  readonly about: string;
  /** One sentence; never an address, a token or a name. */
  readonly text: string;
  /** By these only: a mail about alert mails that do not leave would be the next one of them. */
  readonly notBy?: AlertWay | undefined;
  /** The one thing it tells of, if others may tell of it too. */
  readonly subject?: string | undefined;
}

export interface AlertOptions {
  readonly ways: readonly AlertWay[];
  /** Writes them down: they outlive the process, and are told until somebody has taken them. */
  readonly notes: Pick<AlertNotes, 'add' | 'tellOnce'>;
  /** Called at once when they cannot be written down. */
  readonly webhookUrl?: string | undefined;
  readonly now?: () => number;
  readonly retryMs?: number;
}

interface Waiting extends Alert {
  /** The webhook has it, because the database was away. */
  isCalled: boolean;
}

/**
 * Tells people: always into the log, and by the ways they want (ALERT_WEBHOOK_URL, ALERT_EMAIL). Raising waits for nothing: an
 * alert must not stop what it reports on. What cannot be written down stays here and is written as soon as it can be.
 */
export class Alerts {
  private readonly waiting: Waiting[] = [];
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

  raise(alert: Alert): void {
    this.logger.error({ alert: alert.about }, alert.text);
    if (this.options.ways.every((way) => way === alert.notBy)) return;
    if (this.waiting.length >= MOST_WAITING && alert.subject !== undefined) return;
    this.waiting.push({ ...alert, isCalled: false });
    this.store();
  }

  /** What is being told is told to the end, as far as the database and the webhook answer. */
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
    const stored: Waiting[] = [];
    try {
      while (this.waiting.length > 0) {
        const some = this.waiting.slice(0, AT_ONCE);
        await this.options.notes.add(some.flatMap((alert) => notesOf(alert, this.options.ways)));
        stored.push(...this.waiting.splice(0, some.length));
      }
      await this.options.notes.tellOnce();
    } catch (error) {
      const alert = (this.waiting[0] ?? stored[0])?.about;
      this.logger.error({ alert, err: error }, 'alerts could not be written down and will be; the webhook is called directly');
      await this.callDirectly([...stored, ...this.waiting]);
      if (this.waiting.length > 0) this.retry = setTimeout(() => this.store(), this.options.retryMs ?? RETRY_MS).unref();
    }
  }

  private async callDirectly(alerts: readonly Waiting[]): Promise<void> {
    const { webhookUrl } = this.options;
    if (!webhookUrl) return;
    const untold = alerts.filter(({ notBy, isCalled }) => notBy !== 'webhook' && !isCalled);
    for (const about of new Set(untold.map((alert) => alert.about))) {
      if (this.now() - (this.calledAt.get(about) ?? -Infinity) < QUIET_MS) continue;
      this.calledAt.set(about, this.now());
      const same = untold.filter((alert) => alert.about === about);
      const texts = same.map(({ text }) => text);
      const isTaken = await this.call(webhookUrl, alertOperators({ about, texts }, 'webhook', new Date(this.now())));
      for (const alert of same) alert.isCalled = isTaken;
    }
  }

  private async call(url: string, alert: AlertOperators): Promise<boolean> {
    try {
      const { status } = await post({ url, ...alertRequest(alert), timeoutMs: TIMEOUT_MS });
      if (status >= 300) this.logger.error({ alert: alert.about, status }, 'the alert webhook refused');
      return status < 300;
    } catch (error) {
      this.logger.error({ alert: alert.about, err: error }, 'the alert webhook did not answer');
      return false;
    }
  }
}

/** One for each way. Where it is not to be told it counts as told, so that nobody takes it for unreported. */
export function notesOf(
  { about, text, subject, notBy, isCalled }: Alert & { isCalled?: boolean },
  ways: readonly AlertWay[],
): AlertNote[] {
  const isDone = (way: AlertWay): boolean => way === notBy || (way === 'webhook' && isCalled === true);
  return ways.map((way) => ({ way, about, text, subject, isTold: isDone(way) }));
}

/** `{text, …}`, which Slack and its like take as it is. */
export function alertRequest({ about, text, count = 1, at }: AlertOperators): { headers: Record<string, string>; body: string } {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: `Tribina: ${text}`, alert: about, count, at }),
  };
}
