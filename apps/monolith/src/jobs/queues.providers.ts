import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { Metrics } from '#platform/health/metrics';
import { JobInterventions, JobLedger } from '#messaging/jobs/job-ledger';
import { observeJobs } from '#messaging/jobs/job-metrics';
import { postgresTransport, redisTransport, type JobTransport } from '#messaging/jobs/job-transport';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import { jobsInBundles } from '#messaging/jobs/queued-jobs';
import { ParkedMessages } from '#messaging/outbox/parked-messages';
import { useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { FanBroadcasts } from '../fans/fans.api.ts';
import { CONFIG } from '../tokens.ts';
import { AllQueues } from './all-queues.ts';
import { ManageJobs } from './manage-jobs.ts';

/** Injection token: what carries the general jobs, BullMQ in Redis or PostgreSQL. */
export const TRANSPORT = Symbol('job transport');

/** Reads and changes the jobs of all queues. */
export const queueProviders: Provider[] = [
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
      return new AllQueues({ notifications, ledger, transport, parked, interventions, outbox, ids });
    },
    inject: [NotificationQueues, JobLedger, TRANSPORT, DataSource, Outbox, Ids],
  },
  useCase(ManageJobs, TransactionManager, AllQueues),
];
