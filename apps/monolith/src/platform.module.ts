import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { Metrics } from '#platform/health/metrics';
import { AnswerSeal } from '#platform/idempotency/answer-seal';
import { Answers } from '#platform/idempotency/answers';
import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { RelayBell } from '#messaging/outbox/relay-bell';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { SystemClock, TimeOrderedIds } from '#platform/system-clock';
import { Global, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { DatabaseReplicaSchedule } from './database-replica.schedule.ts';
import type { Resources } from './resources.ts';
import { CONFIG, LOGGER, REDIS, TRANSACTION_RETRIES, WARM_UP, type WarmUp } from './tokens.ts';

/** Closes the connections of the process. Nest runs the hooks of a global module last, when no other module uses them any more. */
class ConnectionsAtShutdown implements OnApplicationShutdown {
  constructor(private readonly resources: Resources) {}

  onApplicationShutdown(): Promise<void> {
    return this.resources.close();
  }
}

/**
 * Provides what every context may inject: settings, connections, transactions, outbox, ids, clock.
 */
@Global()
@Module({})
export class PlatformModule {
  static register(resources: Resources, warmUp: WarmUp): DynamicModule {
    const { config, logger, metrics, dataSource, replicaReads, redis } = resources;
    const bell = new RelayBell();
    const retries = new Counter({
      name: 'transaction_retries_total',
      help: 'Transactions that had to run again.',
      labelNames: ['sqlstate'],
      registers: [metrics.registry],
    });
    const transactions = new PostgresTransactionManager(dataSource, {
      deadlineMs: config.REQUEST_DEADLINE_MS,
      retries,
      afterCommit: (destinations) => bell.ring(destinations),
    });
    const [outbox, ids] = [new PostgresOutbox(), new TimeOrderedIds()];
    const provided = [
      { provide: ConnectionsAtShutdown, useValue: new ConnectionsAtShutdown(resources) },
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: REDIS, useValue: redis },
      { provide: WARM_UP, useValue: warmUp },
      { provide: TRANSACTION_RETRIES, useValue: retries },
      { provide: DataSource, useValue: dataSource },
      { provide: ReplicaReads, useValue: replicaReads },
      { provide: Metrics, useValue: metrics },
      { provide: TransactionManager, useValue: transactions },
      { provide: Outbox, useValue: outbox },
      { provide: Ids, useValue: ids },
      { provide: Jobs, useValue: new PostgresJobs(outbox, ids) },
      { provide: Clock, useValue: new SystemClock() },
      { provide: RelayBell, useValue: bell },
      { provide: IdempotencyRows, useValue: new IdempotencyRows(dataSource) },
      { provide: AnswerSeal, useValue: new AnswerSeal(config.INTERNAL_AUTH_SECRET) },
      Answers,
    ];
    return { module: PlatformModule, providers: [...provided, DatabaseReplicaSchedule], exports: provided };
  }
}
