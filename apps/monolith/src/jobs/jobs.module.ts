import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { Metrics } from '#platform/health/metrics';
import { JobInterventions, JobLedger } from '#platform/jobs/job-ledger';
import type { JobKind } from '#platform/jobs/job-runner';
import { observeJobs } from '#platform/jobs/job-metrics';
import { postgresTransport, redisTransport, type JobTransport } from '#platform/jobs/job-transport';
import { JobsDestination } from '#platform/jobs/jobs-destination';
import { NotificationQueues } from '#platform/jobs/notification-queues';
import type { Logger } from '#platform/logging/logger';
import type { Destination } from '#platform/outbox/destination';
import { useCase } from '#platform/use-case';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { NewsJobKinds, NewsModule } from '../news/news.module.ts';
import { PurchaseJobKinds, PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG, LOGGER, LOOPS } from '../tokens.ts';
import { AllQueues, OperatorsWebhook } from './application/ports.ts';
import { ReportFailure } from './application/report-failure.ts';
import { SteerJobs } from './application/steer-jobs.ts';
import { TellOperators } from './application/tell-operators.ts';
import { alertJob } from './inbound/alert-job.ts';
import { ConsumerParts, JobConsumer } from './inbound/job-consumer.schedule.ts';
import { JobsController } from './inbound/jobs.controller.ts';
import { JobsApi } from './jobs.api.ts';
import { HttpOperatorsWebhook } from './outbound/http-operators-webhook.ts';
import { BullmqQueues } from './outbound/bullmq-queues.ts';

const TRANSPORT = Symbol('job transport');
/** Every class of jobs there is. */
const KINDS = Symbol('job kinds');

/** Where the relay brings jobs. */
export abstract class JobDestinations {
  abstract readonly all: readonly Destination[];
}

/** General background jobs, and the console over every queue. */
@Module({
  imports: [NewsModule, PurchaseModule],
  controllers: [JobsController],
  providers: [
    {
      provide: TRANSPORT,
      useFactory: ({ JOBS_TRANSPORT, DATABASE_URL, REDIS_URL }: MonolithConfig) =>
        JOBS_TRANSPORT === 'postgres' ? postgresTransport(DATABASE_URL) : redisTransport(REDIS_URL),
      inject: [CONFIG],
    },
    {
      provide: NotificationQueues,
      useFactory: ({ REDIS_URL }: MonolithConfig) => new NotificationQueues(REDIS_URL),
      inject: [CONFIG],
    },
    {
      provide: JobLedger,
      useFactory: (dataSource: DataSource, metrics: Metrics) => {
        const ledger = new JobLedger(dataSource);
        observeJobs(metrics.registry, ledger);
        return ledger;
      },
      inject: [DataSource, Metrics],
    },
    { provide: JobInterventions, useFactory: (dataSource: DataSource) => new JobInterventions(dataSource), inject: [DataSource] },
    {
      provide: AllQueues,
      useFactory: (
        notifications: NotificationQueues,
        ledger: JobLedger,
        transport: JobTransport,
        interventions: JobInterventions,
        outbox: Outbox,
        ids: Ids,
      ) => new BullmqQueues(notifications, ledger, transport, interventions, outbox, ids),
      inject: [NotificationQueues, JobLedger, TRANSPORT, JobInterventions, Outbox, Ids],
    },
    useCase(SteerJobs, TransactionManager, AllQueues),
    {
      provide: OperatorsWebhook,
      useFactory: ({ ALERT_WEBHOOK_URL }: MonolithConfig, logger: Logger) => new HttpOperatorsWebhook(ALERT_WEBHOOK_URL, logger),
      inject: [CONFIG, LOGGER],
    },
    useCase(TellOperators, OperatorsWebhook),
    useCase(ReportFailure, TransactionManager, Jobs, Clock),
    {
      provide: KINDS,
      useFactory: (news: NewsJobKinds, purchase: PurchaseJobKinds, tellOperators: TellOperators): readonly JobKind[] => [
        ...news.kinds,
        ...purchase.kinds,
        alertJob(tellOperators),
      ],
      inject: [NewsJobKinds, PurchaseJobKinds, TellOperators],
    },
    {
      provide: ConsumerParts,
      useFactory: (
        transport: JobTransport,
        ledger: JobLedger,
        transactions: TransactionManager,
        kinds: readonly JobKind[],
        logger: Logger,
      ): ConsumerParts => ({ transport, ledger, transactions, kinds, logger }),
      inject: [TRANSPORT, JobLedger, TransactionManager, KINDS, LOGGER],
    },
    {
      provide: JobConsumer,
      useFactory: (parts: ConsumerParts, reportFailure: ReportFailure, isLooping: boolean) =>
        new JobConsumer(parts, reportFailure, isLooping),
      inject: [ConsumerParts, ReportFailure, LOOPS],
    },
    {
      provide: JobDestinations,
      useFactory: (transport: JobTransport, notifications: NotificationQueues): JobDestinations => ({
        all: [new JobsDestination(transport, (queue, id) => notifications.retry(queue, id))],
      }),
      inject: [TRANSPORT, NotificationQueues],
    },
    {
      provide: JobsApi,
      useFactory: (queues: AllQueues, steerJobs: SteerJobs, consumer: JobConsumer): JobsApi => ({
        list: (filter) => queues.list(filter),
        counts: () => queues.counts(),
        retry: (command) => steerJobs.retry(command),
        drop: (command) => steerJobs.drop(command),
        consume: (limits) => consumer.consume(limits),
      }),
      inject: [AllQueues, SteerJobs, JobConsumer],
    },
  ],
  exports: [JobsApi, JobDestinations],
})
export class JobsModule implements OnApplicationShutdown {
  constructor(
    @Inject(TRANSPORT) private readonly transport: JobTransport,
    private readonly notifications: NotificationQueues,
  ) {}

  /** After the consumer and the relays have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.transport.close(), this.notifications.close()]);
  }
}
