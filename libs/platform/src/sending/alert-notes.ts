import { alertOperators, type AlertOperators, type AlertChannel } from '#domain/notification/alert-operators';
import type { TransactionManager } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import type { PostgresJobs } from '../jobs/job-ledger.ts';
import { inside } from '../postgres/transaction.ts';
import { withLedgerDeadline } from './ledger-deadline.ts';

/** One event that operators must learn of, for one way (webhook or mail). */
export interface AlertNote {
  readonly way: AlertChannel;
  /** The kind of problem, for example `dead letter email refund`. Notes of one kind share an alert. */
  readonly about: string;
  readonly text: string;
  /** Identifies the dead letter or parked row. A subject is stored once per way, even if several processes find it. */
  readonly subject?: string | undefined;
  /** True if operators know already, or if this way must not be used. Then no alert is created for the note. */
  readonly isReported?: boolean;
}

/**
 * Minimum time between two alerts of one kind; the second one contains all notes since the first. So an outage makes two alerts
 * a minute, not ten thousand. With all retries of a call (36 s) and the loops between, the last note is sent within 90 s.
 */
const MIN_INTERVAL_SECONDS = 30;
/** An alert job that failed for good is retried after this time, for a week, because operators must receive it. */
const RETRY_AFTER_SECONDS = 30;

/** A statement of its own at READ COMMITTED. At SERIALIZABLE it would conflict with all other writers of notes. */
const ADD = `
  insert into alert_notes (way, about, text, subject, told_at)
  select way, about, text, subject, case when is_reported then clock_timestamp() end
  from jsonb_to_recordset($1::jsonb) as n(way text, about text, text text, subject text, is_reported boolean)
  on conflict (subject, way) do nothing`;

/** Kinds and ways with due notes. Notes wait while an alert of the same kind and way is undelivered, for at most an hour. */
const DUE = `
  select distinct n.way, n.about from alert_notes n
  where n.told_at is null
    and not exists (select from alert_notes told where told.way = n.way and told.about = n.about
                      and told.told_at > now() - make_interval(secs => $1))
    and not exists (select from jobs j where j.class = 'alert_operators' and j.done_at is null
                      and j.created_at > now() - interval '1 hour'
                      and j.message ->> 'by' = n.way and j.message ->> 'about' = n.about)`;

const TAKE = `
  update alert_notes set told_at = now() where way = $1 and about = $2 and told_at is null returning id, text`;

const FAILED_ALERTS = `
  select id from jobs where class = 'alert_operators' and failed_at < now() - make_interval(secs => $1)
    and done_at is null and created_at > now() - interval '7 days' limit 100`;

interface TakenNote {
  readonly id: string;
  readonly text: string;
}

/** Stores alert notes in PostgreSQL and turns due notes into background jobs, which are retried until the alert is delivered. */
export class AlertNotes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    private readonly jobs: Pick<PostgresJobs, 'put' | 'retry'>,
    private readonly minIntervalSeconds = MIN_INTERVAL_SECONDS,
  ) {}

  async add(notes: readonly AlertNote[]): Promise<void> {
    const rows = notes.map(({ isReported = false, ...note }) => ({ ...note, is_reported: isReported }));
    if (rows.length > 0) await this.dataSource.query(ADD, [JSON.stringify(rows)]);
  }

  /** Returns the subjects that have no note for any way. */
  async unknown(subjects: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ subject: string }[]>(
      `select subject from unnest($1::text[]) subject
       where not exists (select from alert_notes n where n.subject = subject.subject)`,
      [subjects],
    );
    return new Set(rows.map(({ subject }) => subject));
  }

  /**
   * Creates alert jobs for all due notes; returns how many. Two processes may call it at the same time: each note is in one
   * alert, because the second process finds it taken.
   */
  async createDueAlerts(): Promise<number> {
    const due = await this.dataSource.query<Pick<AlertNote, 'way' | 'about'>[]>(DUE, [this.minIntervalSeconds]);
    if (due.length === 0) return 0;
    return withLedgerDeadline(() =>
      this.transactions.run(async (tx) => {
        const alerts: AlertOperators[] = [];
        for (const { way, about } of due) {
          const taken = await inside(tx).rows<TakenNote>(TAKE, [way, about]);
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
    const failed = await this.dataSource.query<{ id: string }[]>(FAILED_ALERTS, [RETRY_AFTER_SECONDS]);
    if (failed.length === 0) return 0;
    const ids = failed.map(({ id }) => id);
    return withLedgerDeadline(() => this.transactions.run((tx) => this.jobs.retry(tx, ids)));
  }
}
