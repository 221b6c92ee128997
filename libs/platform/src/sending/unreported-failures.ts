import type { DataSource } from 'typeorm';
import type { Alert } from './alerts.ts';

/** What is older was found by whoever ran then; notes are kept for 14 days. */
const LOOKED_BACK = `interval '7 days'`;
const AT_ONCE = 1000;

/** READ COMMITTED and without a lock: rows are written all the time, and what is missed now is found a moment later. */
const lookFor = (columns: string, from: string, time: string, subject: string): string => `
  select * from (select ${columns}, ${subject} || ':' || extract(epoch from ${time}) as subject
                 from ${from} and ${time} > now() - ${LOOKED_BACK}) failure
  where not exists (select from alert_notes n where n.subject = failure.subject) limit ${AT_ONCE}`;

const FAILED_JOBS = lookFor('id, class', `jobs where class <> 'alert_operators'`, 'failed_at', `'jobs:' || id`);
const PARKED_MESSAGES = lookFor('id, destination, event', 'outbox where parked_at is not null', 'parked_at', `'outbox:' || id`);
const PARKED_EVENTS = lookFor(
  'source, event_id',
  'loaded_events_due where parked_at is not null',
  'parked_at',
  `'event:' || source || ':' || event_id`,
);

/**
 * Failures that stand in PostgreSQL and that no alert tells of yet: failed background jobs, parked messages of the outbox, loaded
 * events that were set aside. Nobody has to report them when they happen, so no crash can lose the report.
 */
export class UnreportedFailures {
  constructor(private readonly dataSource: DataSource) {}

  async failedJobs(): Promise<Alert[]> {
    const rows = await this.dataSource.query<{ id: string; class: string; subject: string }[]>(FAILED_JOBS);
    return rows.map(({ id, class: kind, subject }) => ({
      about: `failed job ${kind}`,
      text: `background job ${kind} failed for good (TRIBINA-INFRA-9100): \`jobs:failed\` shows why, \`jobs:retry ${id}\` tries again`,
      subject,
    }));
  }

  async parkedMessages(): Promise<Alert[]> {
    const rows =
      await this.dataSource.query<{ id: string; destination: string; event: string; subject: string }[]>(PARKED_MESSAGES);
    return rows.map(({ id, destination, event, subject }) => ({
      about: `parked message ${destination}`,
      text: `message ${event} to ${destination} is parked: \`jobs:failed --queue outbox\` shows why, \`jobs:retry ${id}\` tries again`,
      subject,
    }));
  }

  async parkedEvents(): Promise<Alert[]> {
    const rows = await this.dataSource.query<{ source: string; event_id: string; subject: string }[]>(PARKED_EVENTS);
    return rows.map(({ source, event_id, subject }) => ({
      about: `parked event ${source}`,
      text: `event ${event_id} of source ${source} is set aside: loaded_events_due shows why`,
      subject,
    }));
  }
}
