import { TransactionManager } from '#application/transaction-manager';
import { JobLedger } from '#messaging/jobs/job-ledger';
import type { JobKind } from '#messaging/jobs/job-runner';
import { observeJobs } from '#messaging/jobs/job-metrics';
import { postgresTransport, redisTransport, type JobTransport } from '#messaging/jobs/job-transport';
import { JobsDestination } from '#messaging/jobs/jobs-destination';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import { jobsInBundles } from '#messaging/jobs/queued-jobs';
import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import type { Destination } from '#messaging/outbox/destination';
import { Alerts } from '#messaging/sending/alerts';
import { useCase } from '#platform/use-case';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogJobKinds, CatalogModule } from '../catalog/catalog.module.ts';
import { FansModule } from '../fans/fans.module.ts';
import { NoticeJobKinds, HolderNoticesModule } from '../holder-notices/holder-notices.module.ts';
import { PurchaseJobKinds, PurchaseModule } from '../purchase/purchase.module.ts';
import type { MonolithConfig } from '../config.ts';
import { FanBroadcasts } from '../fans/fans.api.ts';
import { CONFIG, JOB_TRANSPORT, LOGGER } from '../tokens.ts';
import { alertProviders } from './alerts.providers.ts';
import { AllQueues } from './all-queues.ts';
import { JobConsumer, JOB_RUNNER, type JobRunnerParts } from './job-consumer.schedule.ts';
import { JobsApi } from './jobs.api.ts';
import { JobsController } from './jobs.controller.ts';
import { ManageJobs } from './manage-jobs.ts';
import { alertJob, TellOperators } from './tell-operators.ts';

/** Injection token: the kinds of general jobs (all jobs except mails and pushes) of all contexts. */
const KINDS = Symbol('job kinds');

/** The outbox destinations that the jobs context provides to the relay. */
export class JobDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** Runs the general background jobs, and lets operators see and manage the jobs of all queues. */
@Module({
  imports: [CatalogModule, FansModule, HolderNoticesModule, PurchaseModule],
  controllers: [JobsController],
  providers: [
    {
      provide: JOB_TRANSPORT,
      useFactory: ({ JOBS_TRANSPORT, DATABASE_URL, REDIS_URL }: MonolithConfig) =>
        JOBS_TRANSPORT === 'postgres' ? postgresTransport(DATABASE_URL) : redisTransport(REDIS_URL),
      inject: [CONFIG],
    },
    {
      provide: NotificationQueues,
      useFactory: ({ REDIS_URL }: MonolithConfig, dataSource: DataSource, broadcasts: FanBroadcasts) =>
        new NotificationQueues(REDIS_URL, {
          inBundles: (queue) => jobsInBundles(dataSource, [queue]),
          devicesOf: (userId) => broadcasts.devicesIn(userId),
        }),
      inject: [CONFIG, DataSource, FanBroadcasts],
    },
    {
      provide: JobLedger,
      useFactory: (dataSource: DataSource, { registry }: Metrics) => {
        const ledger = new JobLedger(dataSource);
        observeJobs(registry, ledger);
        return ledger;
      },
      inject: [DataSource, Metrics],
    },
    AllQueues,
    useCase(ManageJobs, TransactionManager, AllQueues),
    ...alertProviders,
    {
      provide: KINDS,
      useFactory: (
        catalog: CatalogJobKinds,
        notices: NoticeJobKinds,
        purchase: PurchaseJobKinds,
        tellOperators: TellOperators,
      ): readonly JobKind[] => [...catalog.kinds, ...notices.kinds, ...purchase.kinds, alertJob(tellOperators)],
      inject: [CatalogJobKinds, NoticeJobKinds, PurchaseJobKinds, TellOperators],
    },
    {
      provide: JOB_RUNNER,
      useFactory: (
        transport: JobTransport,
        ledger: JobLedger,
        transactions: TransactionManager,
        kinds: readonly JobKind[],
        logger: Logger,
      ): JobRunnerParts => ({ transport, ledger, transactions, kinds, logger }),
      inject: [JOB_TRANSPORT, JobLedger, TransactionManager, KINDS, LOGGER],
    },
    JobConsumer,
    {
      provide: JobDestinations,
      useFactory: (transport: JobTransport, notifications: NotificationQueues) =>
        new JobDestinations([
          new JobsDestination(transport, {
            retry: (queue, id) => notifications.retry(queue, id),
            drop: (queue, id) => notifications.drop(queue, id),
          }),
        ]),
      inject: [JOB_TRANSPORT, NotificationQueues],
    },
    {
      provide: JobsApi,
      useFactory: (queues: AllQueues, manageJobs: ManageJobs, consumer: JobConsumer): JobsApi => ({
        list: async (filter, limit) => (await queues.list.page(filter, limit, { examineAll: true })).jobs,
        counts: () => queues.counts(),
        retry: (command) => manageJobs.retry(command),
        drop: (command) => manageJobs.drop(command),
        consume: (limits) => consumer.consume(limits),
      }),
      inject: [AllQueues, ManageJobs, JobConsumer],
    },
  ],
  exports: [JobsApi, JobDestinations],
})
export class JobsModule implements OnApplicationShutdown {
  constructor(
    @Inject(JOB_TRANSPORT) private readonly transport: JobTransport,
    private readonly notifications: NotificationQueues,
    private readonly alerts: Alerts,
  ) {}

  /** Closes the queues. Nest calls this method after the consumer and the relays have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.alerts.settled();
    await Promise.all([this.transport.close(), this.notifications.close()]);
  }
}
