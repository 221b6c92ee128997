import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { purgeInboxOnce, purgeNotificationsOnce } from '#messaging/inbox/inbox-purge';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const PURGE_INTERVAL_MS = 3_600_000;

/** Deletes rows whose retention has ended, once an hour and in batches. */
@Injectable()
export class Housekeeping {
  constructor(rows: IdempotencyRows, dataSource: DataSource, tasks: PeriodicTasks) {
    const add = (what: string, purgeOnce: () => Promise<number>) =>
      tasks.add(
        { name: `old ${what}`, everyMs: PURGE_INTERVAL_MS, does: `Deletes ${what} whose retention has ended.` },
        purgeOnce,
      );
    add('idempotency keys', () => rows.purgeOnce());
    add('inbox rows', () => purgeInboxOnce(dataSource));
    // Pushes, broadcasts, copies of queued jobs, alert notes.
    add('notifications', () => purgeNotificationsOnce(dataSource));
  }
}
