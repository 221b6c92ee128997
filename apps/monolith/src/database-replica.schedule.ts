import { ReplicaReads } from '#platform/postgres/replica-reads';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';

/** Measures how far the database replica is behind. Without DATABASE_REPLICA_URL a run does nothing. */
@Injectable()
export class DatabaseReplicaSchedule {
  constructor(reads: ReplicaReads, tasks: PeriodicTasks) {
    tasks.add(
      {
        name: 'database replica',
        everyMs: 1000,
        does: 'Measures how far the database replica is behind, and whether it may be read.',
      },
      () => reads.measure(),
    );
  }
}
