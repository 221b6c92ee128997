import { alertOperators, type AlertOperators, type AlertChannel } from '#domain/notification/alert-operators';
import type { TransactionManager } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import type { PostgresJobs } from '../jobs/job-ledger.ts';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import { ADD_NOTES, DUE_KINDS, FAILED_ALERTS, TAKE_NOTES, UNKNOWN_SUBJECTS } from './alert-notes.sql.ts';
import { withLedgerDeadline } from './ledger-deadline.ts';

/** A problem that operators must learn of, for one way of alerting them (webhook or mail). */
export interface AlertNote {
  readonly way: AlertChannel;
  /** The kind of problem, for example `dead letter email refund`. Notes of one kind share an alert. */
  readonly about: string;
  readonly text: string;
  /**
   * Identifies the dead letter or parked row that the note is about. A subject has one note per way, even if several processes
   * find it.
   */
  readonly subject?: string | undefined;
  /** True if operators already know of the problem, or if this way must not be used. Then no alert is created for the note. */
  readonly isReported?: boolean;
}

/**
 * Minimum time between two alerts of one kind; the second alert contains all notes since the first. So an outage causes two
 * alerts a minute, not ten thousand. With all retries of a call (36 s) and the intervals between, the last note is sent within 90 s.
 */
const MIN_INTERVAL_SECONDS = 30;
/**
 * An alert job that failed for good is retried each time this time has passed, for a week, because operators must receive the
 * alert.
 */
const RETRY_AFTER_SECONDS = 30;

/** Stores alert notes in PostgreSQL and turns due notes into background jobs, which are retried until the alert is delivered. */
export class AlertNotes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    private readonly jobs: Pick<PostgresJobs, 'put' | 'retry'>,
    private readonly minIntervalSeconds = MIN_INTERVAL_SECONDS,
  ) {}

  /** Stores notes. They commit at once, independent of the caller's transaction. */
  async add(notes: readonly AlertNote[]): Promise<void> {
    const rows = notes.map(({ isReported = false, ...note }) => ({ ...note, is_reported: isReported }));
    if (rows.length > 0) await runUnprepared(this.dataSource, ADD_NOTES.with({ notes: JSON.stringify(rows) }));
  }

  /** Returns the subjects that have no note yet. */
  async unknown(subjects: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await runUnprepared<{ subject: string }[]>(this.dataSource, UNKNOWN_SUBJECTS.with({ subjects }));
    return new Set(rows.map(({ subject }) => subject));
  }

  /**
   * Creates alert jobs for all due notes; returns how many. Two processes may call it at the same time: each note is in only
   * one alert, because the second process does not find notes that the first has taken.
   */
  async createDueAlerts(): Promise<number> {
    const dueKinds = DUE_KINDS.with({ minIntervalSeconds: this.minIntervalSeconds });
    const due = await runUnprepared<Pick<AlertNote, 'way' | 'about'>[]>(this.dataSource, dueKinds);
    if (due.length === 0) return 0;
    return withLedgerDeadline(() =>
      this.transactions.run(async (tx) => {
        const alerts: AlertOperators[] = [];
        for (const { way, about } of due) {
          const taken = await inside(tx).rows<{ id: string; text: string }>(TAKE_NOTES.with({ way, about }));
          const texts = taken.sort((a, b) => Number(a.id) - Number(b.id)).map(({ text }) => text);
          if (texts.length > 0) alerts.push(alertOperators({ about, texts }, way, new Date()));
        }
        await this.jobs.put(tx, alerts);
        return alerts.length;
      }),
    );
  }

  /** Retries failed alert jobs; returns how many. */
  async retryFailedAlerts(): Promise<number> {
    const statement = FAILED_ALERTS.with({ retryAfterSeconds: RETRY_AFTER_SECONDS });
    const failed = await runUnprepared<{ id: string }[]>(this.dataSource, statement);
    if (failed.length === 0) return 0;
    const ids = failed.map(({ id }) => id);
    return withLedgerDeadline(() => this.transactions.run((tx) => this.jobs.retry(tx, ids)));
  }
}
