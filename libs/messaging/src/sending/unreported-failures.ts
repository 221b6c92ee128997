import type { DataSource } from 'typeorm';
import type { Alert } from './alerts.ts';

/**
 * Maximum age of failures that are searched. Earlier searches have stored alert notes about older ones. It is shorter than the 14
 * days for which alert notes are kept.
 */
const MAX_AGE = `interval '7 days'`;
const MAX_ROWS = 1000;

/**
 * SQL that selects failures without an alert note. It runs at READ COMMITTED without locks: if a row is being written at this
 * moment, the next search finds it.
 */
const selectUnreported = (columns: string, from: string, time: string, subject: string): string => `
  select * from (select ${columns}, ${subject} || ':' || extract(epoch from ${time}) as subject
                 from ${from} and ${time} > now() - ${MAX_AGE}) failure
  where not exists (select from alert_notes n where n.subject = failure.subject) limit ${MAX_ROWS}`;

const FAILED_JOBS = selectUnreported('id, class', `jobs where class <> 'alert_operators'`, 'failed_at', `'jobs:' || id`);
const PARKED_MESSAGES = selectUnreported(
  'id, destination, event',
  'outbox where parked_at is not null',
  'parked_at',
  `'outbox:' || id`,
);
const PARKED_EVENTS = selectUnreported(
  'source, event_id',
  'loaded_events_due where parked_at is not null',
  'parked_at',
  `'event:' || source || ':' || event_id`,
);

/**
 * Finds failures in PostgreSQL that have no alert note (row of `alert_notes`) yet: failed background jobs, parked messages of the
 * outbox and parked events of the event loader. The code that fails does not have to report its failure, so a crash cannot lose
 * the report.
 */
export class UnreportedFailures {
  constructor(private readonly dataSource: DataSource) {}

  failedJobs(): Promise<Alert[]> {
    return this.find<'id' | 'class'>(FAILED_JOBS, ({ id, class: kind }) => ({
      about: `failed job ${kind}`,
      text: `background job ${kind} failed for good (TRIBINA-INFRA-9100): \`jobs:failed\` shows why, \`jobs:retry ${id}\` tries again`,
    }));
  }

  parkedMessages(): Promise<Alert[]> {
    return this.find<'id' | 'destination' | 'event'>(PARKED_MESSAGES, ({ id, destination, event }) => ({
      about: `parked message ${destination}`,
      text: `message ${event} to ${destination} is parked: \`jobs:failed --queue outbox\` shows why, \`jobs:retry ${id}\` tries again`,
    }));
  }

  parkedEvents(): Promise<Alert[]> {
    return this.find<'source' | 'event_id'>(PARKED_EVENTS, ({ source, event_id }) => ({
      about: `parked event ${source}`,
      text: `event ${event_id} of source ${source} is set aside: loaded_events_due shows why`,
    }));
  }

  private async find<Column extends string>(
    sql: string,
    alertOf: (row: Readonly<Record<Column, string>>) => Alert,
  ): Promise<Alert[]> {
    const rows = await this.dataSource.query<Record<Column | 'subject', string>[]>(sql);
    return rows.map((row) => ({ ...alertOf(row), subject: row.subject }));
  }
}
