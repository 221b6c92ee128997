import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { Metrics } from '#platform/health/metrics';
import { JobInterventions, JobLedger, PostgresJobs } from '#messaging/jobs/job-ledger';
import type { JobKind } from '#messaging/jobs/job-runner';
import { observeJobs } from '#messaging/jobs/job-metrics';
import { postgresTransport, redisTransport, type JobTransport } from '#messaging/jobs/job-transport';
import { JobsDestination } from '#messaging/jobs/jobs-destination';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import { jobsInBundles } from '#messaging/jobs/queued-jobs';
import type { Logger } from '#platform/logging/logger';
import type { Destination } from '#messaging/outbox/destination';
import { ParkedMessages } from '#messaging/outbox/parked-messages';
import { alertChannels } from '#platform/config/settings';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { Alerts } from '#messaging/sending/alerts';
import { SharedProviderLimiter } from '#messaging/sending/provider-limiter';
import { UnreportedFailures } from '#messaging/sending/unreported-failures';
import { ProviderCalls } from '#messaging/sending/provider-calls';
import { useCase } from '#platform/use-case';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { FanBroadcasts } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { NoticeJobKinds, HolderNoticesModule } from '../holder-notices/holder-notices.module.ts';
import { PurchaseJobKinds, PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG, LOGGER, LOOPS, REDIS } from '../tokens.ts';
import { AllQueues, OperatorsMails, OperatorsWebhook } from './application/ports.ts';
import { ManageJobs } from './application/manage-jobs.ts';
import { TellOperators } from './application/tell-operators.ts';
import { alertJob } from './inbound/alert-job.ts';
import { ConsumerDependencies, JobConsumer } from './inbound/job-consumer.schedule.ts';
import { JobsController } from './inbound/jobs.controller.ts';
import { JobsApi } from './jobs.api.ts';
import { HttpOperatorsWebhook } from './outbound/http-operators-webhook.ts';
import { OutboxOperatorsMails } from './outbound/outbox-operators-mails.ts';
import { BullmqQueues } from './outbound/bullmq-queues.ts';

const TRANSPORT = Symbol('job transport');
/** Injection token: the kinds of general jobs (all jobs except mails and pushes) of all contexts. */
const KINDS = Symbol('job kinds');

/** Slack accepts one message a second; other chat services have similar limits. */
const ALERTS_PER_SECOND = 1;
/** The longest time an alert job waits for the rate limiter. After that the job goes back to its queue without a failed attempt. */
const MAX_LIMITER_WAIT_MS = 1500;

function webhookCalls(redis: RedisConnection, alerts: Alerts): ProviderCalls {
  const onBreaker = (provider: string, state: string): void =>
    alerts.raise({
      about: `breaker ${provider} ${state}`,
      text: `the breaker of ${provider} has ${state}`,
      excludedChannel: 'webhook',
    });
  const options = { provider: 'alert-webhook', callsPerSecond: ALERTS_PER_SECOND, maxWaitMs: MAX_LIMITER_WAIT_MS, onBreaker };
  return new ProviderCalls(new SharedProviderLimiter(redis, options));
}

/** The outbox destinations that the jobs context provides to the relay. */
export abstract class JobDestinations {
  abstract readonly all: readonly Destination[];
}

/** Runs the general background jobs, and lets operators see and manage the jobs of all queues. */
@Module({
  imports: [FansModule, HolderNoticesModule, PurchaseModule],
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
      useFactory: ({ REDIS_URL }: MonolithConfig, dataSource: DataSource, broadcasts: FanBroadcasts) =>
        new NotificationQueues(REDIS_URL, {
          inBundles: (queue) => jobsInBundles(dataSource, [queue]),
          devicesOf: (userId) => broadcasts.devicesIn(userId),
        }),
      inject: [CONFIG, DataSource, FanBroadcasts],
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
    {
      provide: AllQueues,
      useFactory: (
        notifications: NotificationQueues,
        ledger: JobLedger,
        transport: JobTransport,
        dataSource: DataSource,
        outbox: Outbox,
        ids: Ids,
      ) => {
        const [parked, interventions] = [new ParkedMessages(dataSource), new JobInterventions(dataSource)];
        return new BullmqQueues({ notifications, ledger, transport, parked, interventions, outbox, ids });
      },
      inject: [NotificationQueues, JobLedger, TRANSPORT, DataSource, Outbox, Ids],
    },
    useCase(ManageJobs, TransactionManager, AllQueues),
    {
      provide: OperatorsWebhook,
      useFactory: ({ ALERT_WEBHOOK_URL }: MonolithConfig, redis: RedisConnection, alerts: Alerts, logger: Logger) =>
        new HttpOperatorsWebhook(ALERT_WEBHOOK_URL, webhookCalls(redis, alerts), logger),
      inject: [CONFIG, REDIS, Alerts, LOGGER],
    },
    {
      provide: OperatorsMails,
      useFactory: ({ ALERT_EMAIL }: MonolithConfig, outbox: Outbox, ids: Ids, clock: Clock) =>
        new OutboxOperatorsMails(ALERT_EMAIL, outbox, ids, clock),
      inject: [CONFIG, Outbox, Ids, Clock],
    },
    useCase(TellOperators, OperatorsWebhook, OperatorsMails),
    {
      provide: AlertNotes,
      useFactory: (dataSource: DataSource, transactions: TransactionManager, outbox: Outbox, ids: Ids) =>
        new AlertNotes(dataSource, transactions, new PostgresJobs(outbox, ids)),
      inject: [DataSource, TransactionManager, Outbox, Ids],
    },
    {
      provide: Alerts,
      useFactory: (config: MonolithConfig, logger: Logger, notes: AlertNotes) =>
        new Alerts(logger, { ways: alertChannels(config), notes, webhookUrl: config.ALERT_WEBHOOK_URL }),
      inject: [CONFIG, LOGGER, AlertNotes],
    },
    {
      provide: AlertUpkeep,
      useFactory: (config: MonolithConfig, notes: AlertNotes, dataSource: DataSource) => {
        const failures = new UnreportedFailures(dataSource);
        const finders = [() => failures.failedJobs(), () => failures.parkedMessages(), () => failures.parkedEvents()];
        return new AlertUpkeep(notes, alertChannels(config), finders);
      },
      inject: [CONFIG, AlertNotes, DataSource],
    },
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
      provide: ConsumerDependencies,
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
      useFactory: (parts: ConsumerDependencies, alerts: AlertUpkeep, isLooping: boolean, config: MonolithConfig) =>
        new JobConsumer(parts, alerts, { isLooping, runsJobs: config.JOBS_IN_MONOLITH }),
      inject: [ConsumerDependencies, AlertUpkeep, LOOPS, CONFIG],
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
