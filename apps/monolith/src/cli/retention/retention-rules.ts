/** What is deleted, or emptied of personal data, when it is old. docs/concepts/privacy.md lists all rules with their reasons. */
export interface RetentionRule {
  /** What it deletes. Unique: `retention:status` shows the last run of each rule. */
  readonly name: string;
  readonly keeps: string;
  /** Deletes or empties old rows, at most `$1` of them. Skips rows that another transaction has locked. */
  readonly sql: string;
}

/** Finds old rows by their place in the table, because some of these tables have no key of one column. */
const oldRows = (table: string, isOld: string): string =>
  `ctid = any(array(select ctid from ${table} where ${isOld} limit $1 for update skip locked))`;

const olderThan = (time: string, age: string): string => `${time} < now() - interval '${age}'`;

function deletes(name: string, table: string, time: string, keeps: string, further = ''): RetentionRule {
  return { name, keeps, sql: `delete from ${table} where ${oldRows(table, olderThan(time, keeps) + further)}` };
}

/** What an event of another system becomes. The row stays, so that the event is not loaded again. */
export const ERASED_EVENT = '{"erased": true}';

/** The rules, in the order in which they run. */
export const retentionRules: readonly RetentionRule[] = [
  // Longer than the 48 hours that the API promises, so that a loss of Redis near their end breaks nothing.
  deletes('answers to repeated requests', 'idempotency_keys', 'created_at', '72 hours'),
  // Longer than a message can arrive again: dead letters are kept for 30 days, rows of the outbox for a much shorter time.
  deletes('marks of processed messages', 'inbox', 'finished_at', '90 days'),
  deletes('progress of pushes', 'push_progress', 'claimed_at', '90 days'),
  deletes('pushes to many fans', 'broadcasts', 'created_at', '90 days'),
  // One day less than Redis keeps a failed job: an older copy would restore a job that Redis has dropped.
  deletes('copies of queued mails and pushes', 'queued_jobs', 'queued_at', '29 days'),
  // Longer than the period in which failures without an alert are searched.
  deletes('alerts that were told', 'alert_notes', 'noted_at', '14 days'),
  deletes('deliveries to webhooks', 'webhook_deliveries', 'created_at', '30 days', ` and state <> 'pending'`),
  deletes('messages in the mailbox', 'mailbox_messages', 'sent_at', '30 days'),
  deletes('retries and drops of jobs', 'job_interventions', 'at', '1 year'),
  deletes('malformed events', 'quarantined_events', 'quarantined_at', '1 year'),
  deletes('resolved conflicts with other systems', 'loaded_conflicts', 'resolved_at', '1 year'),
  {
    name: 'content of loaded events',
    keeps: '1 year',
    sql: `update loaded_events set payload = '${ERASED_EVENT}'
          where ${oldRows('loaded_events', `${olderThan('loaded_at', '1 year')} and payload <> '${ERASED_EVENT}'`)}`,
  },
  // The newest change is the revision of the list. Changes of fans who are on the list stay, because they say why.
  deletes(
    'history of the blacklist',
    'blacklist_changes',
    'at',
    '3 years',
    ` and id < (select max(id) from blacklist_changes) and user_id not in (select user_id from blacklist)`,
  ),
  deletes('audit log', 'audit_log', 'at', '3 years'),
  deletes('finished erasures', 'erasures', 'done_at', '1 year'),
];
