import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { purgeInboxOnce, purgeNotificationsOnce } from '#messaging/inbox/inbox-purge';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const purge = (name: string, what: string) => ({
  name,
  everyMs: 3_600_000,
  does: `Deletes ${what} whose retention has ended, in batches.`,
});

/** Deletes rows whose retention has ended. */
@Injectable()
export class Housekeeping {
  constructor(rows: IdempotencyRows, dataSource: DataSource, tasks: PeriodicTasks) {
    tasks.add(purge('old idempotency keys', 'idempotency keys'), () => rows.purgeOnce());
    tasks.add(purge('old inbox rows', 'inbox rows'), () => purgeInboxOnce(dataSource));
    tasks.add(purge('old notifications', 'pushes, broadcasts, copies of queued jobs and alert notes'), () =>
      purgeNotificationsOnce(dataSource),
    );
  }
}
