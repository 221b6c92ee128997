import { TransactionManager } from '#application/transaction-manager';
import { JobLedger } from '#messaging/jobs/job-ledger';
import type { JobKind } from '#messaging/jobs/job-runner';
import type { JobTransport } from '#messaging/jobs/job-transport';
import { JobsDestination } from '#messaging/jobs/jobs-destination';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import type { Logger } from '#platform/logging/logger';
import type { Destination } from '#messaging/outbox/destination';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { Alerts } from '#messaging/sending/alerts';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { FansModule } from '../fans/fans.module.ts';
import { NoticeJobKinds, HolderNoticesModule } from '../holder-notices/holder-notices.module.ts';
import { PurchaseJobKinds, PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG, LOGGER } from '../tokens.ts';
import { alertProviders } from './alerts.providers.ts';
import { AllQueues } from './all-queues.ts';
import { JobConsumer, type ConsumerDependencies } from './job-consumer.schedule.ts';
import { JobsApi } from './jobs.api.ts';
import { JobsController } from './jobs.controller.ts';
import { ManageJobs } from './manage-jobs.ts';
import { queueProviders, TRANSPORT } from './queues.providers.ts';
import { alertJob, TellOperators } from './tell-operators.ts';

/** Injection token: the kinds of general jobs (all jobs except mails and pushes) of all contexts. */
const KINDS = Symbol('job kinds');

/** Injection token: what `JobConsumer` needs to run jobs. */
const CONSUMER_DEPENDENCIES = Symbol('job consumer dependencies');

/** The outbox destinations that the jobs context provides to the relay. */
export class JobDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** Runs the general background jobs, and lets operators see and manage the jobs of all queues. */
@Module({
  imports: [FansModule, HolderNoticesModule, PurchaseModule],
  controllers: [JobsController],
  providers: [
    ...queueProviders,
    ...alertProviders,
    {
      provide: KINDS,
      useFactory: (notices: NoticeJobKinds, purchase: PurchaseJobKinds, tellOperators: TellOperators): readonly JobKind[] => [
        ...notices.kinds,
        ...purchase.kinds,
        alertJob(tellOperators),
      ],
      inject: [NoticeJobKinds, PurchaseJobKinds, TellOperators],
    },
    {
      provide: CONSUMER_DEPENDENCIES,
      useFactory: (
        transport: JobTransport,
        ledger: JobLedger,
        transactions: TransactionManager,
        kinds: readonly JobKind[],
        logger: Logger,
      ): ConsumerDependencies => ({ transport, ledger, transactions, kinds, logger }),
      inject: [TRANSPORT, JobLedger, TransactionManager, KINDS, LOGGER],
    },
    {
      provide: JobConsumer,
      useFactory: (parts: ConsumerDependencies, alerts: AlertUpkeep, tasks: PeriodicTasks, config: MonolithConfig) =>
        new JobConsumer(parts, alerts, tasks, config.JOBS_IN_MONOLITH),
      inject: [CONSUMER_DEPENDENCIES, AlertUpkeep, PeriodicTasks, CONFIG],
    },
    {
      provide: JobDestinations,
      useFactory: (transport: JobTransport, notifications: NotificationQueues) =>
        new JobDestinations([new JobsDestination(transport, (queue, id) => notifications.retry(queue, id))]),
      inject: [TRANSPORT, NotificationQueues],
    },
    {
      provide: JobsApi,
      useFactory: (queues: AllQueues, manageJobs: ManageJobs, consumer: JobConsumer): JobsApi => ({
        list: (filter) => queues.list(filter),
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
    @Inject(TRANSPORT) private readonly transport: JobTransport,
    private readonly notifications: NotificationQueues,
    private readonly alerts: Alerts,
  ) {}

  /** Closes the queues. Nest calls this method after the consumer and the relays have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.alerts.settled();
    await Promise.all([this.transport.close(), this.notifications.close()]);
  }
}
