import { alertOperators, type AlertOperators, type AlertWay } from '#domain/notification/alert-operators';
import type { TransactionManager } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import type { PostgresJobs } from '../jobs/job-ledger.ts';
import { inside } from '../postgres/transaction.ts';
import { outsideTheJobsDeadline } from './ledger-deadline.ts';

/** One fact, for one way of telling. */
export interface AlertNote {
  readonly way: AlertWay;
  /** The kind of trouble: `dead letter email refund`. Facts of one kind are told together. */
  readonly about: string;
  readonly text: string;
  /** The dead letter or parked row it tells of; noted once, whoever finds it. */
  readonly subject?: string | undefined;
  /** It has been told already, in another way than from here. */
  readonly isTold?: boolean;
}

/**
 * The next alert of the same kind comes this much later and tells everything since: an outage is two alerts a minute, not ten
 * thousand. With all retries of a call (36 s) and the loops between, the last fact is told within 90 s.
 */
const QUIET_SECONDS = 30;
/** An alert job that has failed for good is tried again after this long, for a week: somebody has to hear of it. */
const RETRY_AFTER_SECONDS = 30;

/** READ COMMITTED, as a statement of its own: at SERIALIZABLE it would read what others write all the time. */
const ADD = `
  insert into alert_notes (way, about, text, subject, told_at)
  select way, about, text, subject, case when is_told then clock_timestamp() end
  from jsonb_to_recordset($1::jsonb) as n(way text, about text, text text, subject text, is_told boolean)
  on conflict (subject, way) do nothing`;

/** While an alert of the same kind has not got through, the facts wait for it; after an hour they do not wait any longer. */
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

interface Taken {
  readonly id: string;
  readonly text: string;
}

/** The notes in PostgreSQL, from the moment a fact is known until it is a background job that is repeated until it gets through. */
export class AlertNotes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    private readonly jobs: Pick<PostgresJobs, 'put' | 'retry'>,
    private readonly quietSeconds = QUIET_SECONDS,
  ) {}

  async add(notes: readonly AlertNote[]): Promise<void> {
    const rows = notes.map(({ way, about, text, subject, isTold }) => ({ way, about, text, subject, is_told: isTold ?? false }));
    if (rows.length > 0) await this.dataSource.query(ADD, [JSON.stringify(rows)]);
  }

  /** Which of these nobody has noted for any way. */
  async unknown(subjects: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ subject: string }[]>(
      `select subject from unnest($1::text[]) subject
       where not exists (select from alert_notes n where n.subject = subject.subject)`,
      [subjects],
    );
    return new Set(rows.map(({ subject }) => subject));
  }

  /** Has everything told that is due; how many alerts. Two processes at once tell each note once: one of them finds it taken. */
  async tellOnce(): Promise<number> {
    const due = await this.dataSource.query<Pick<AlertNote, 'way' | 'about'>[]>(DUE, [this.quietSeconds]);
    if (due.length === 0) return 0;
    return outsideTheJobsDeadline(() =>
      this.transactions.run(async (tx) => {
        const alerts: AlertOperators[] = [];
        for (const { way, about } of due) {
          const taken = await inside(tx).rows<Taken>(TAKE, [way, about]);
          const texts = taken.sort((a, b) => Number(a.id) - Number(b.id)).map(({ text }) => text);
          if (texts.length > 0) alerts.push(alertOperators({ about, texts }, way, new Date()));
        }
        await this.jobs.put(tx, alerts);
        return alerts.length;
      }),
    );
  }

  /** How many failed alerts are on their way again. */
  async retryOnce(): Promise<number> {
    const failed = await this.dataSource.query<{ id: string }[]>(FAILED_ALERTS, [RETRY_AFTER_SECONDS]);
    if (failed.length === 0) return 0;
    const ids = failed.map(({ id }) => id);
    return outsideTheJobsDeadline(() => this.transactions.run((tx) => this.jobs.retry(tx, ids)));
  }
}
