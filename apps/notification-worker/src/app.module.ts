import { JOBS_PREFIX, type JobQueue } from '#contracts/queue-jobs';
import { HealthModule } from '#platform/health/health.module';
import type { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { assertHasConsumer, ConsumerHeartbeats } from '#messaging/jobs/consumer-heartbeats';
import { pingDatabase } from '#platform/postgres/database';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { SchedulingModule } from '#platform/schedule/scheduling.module';
import { closeRedis } from '#platform/redis/redis-connection';
import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { EmailModule } from './email/email.module.ts';
import { EmailProcessor } from './email/inbound/email.processor.ts';
import { mailboxPages } from './mailbox/mailbox.controller.ts';
import { PostgresMailbox } from './mailbox/postgres-mailbox.ts';
import { PARTS, type WorkerParts } from './parts.ts';
import { PushProcessor } from './push/inbound/push.processor.ts';
import { PushModule } from './push/push.module.ts';
import { SendingModule } from './sending/sending.module.ts';

/** Takes the jobs of some queues. */
export type QueueProcessor = EmailProcessor | PushProcessor;

/** The part of the worker that WORKER_QUEUES may leave out: a processor with its module, and the queues that it consumes. */
interface Sender {
  readonly name: 'email' | 'push';
  readonly queues: readonly JobQueue[];
  readonly processor: typeof EmailProcessor | typeof PushProcessor;
  register(parts: WorkerParts): DynamicModule;
}
const SENDERS: readonly Sender[] = [
  { name: 'email', queues: ['email'], processor: EmailProcessor, register: (parts) => EmailModule.register(parts) },
  { name: 'push', queues: ['push', 'push-priority'], processor: PushProcessor, register: (parts) => PushModule.register(parts) },
];

/** The senders that this process runs. */
export const sendersOf = ({ WORKER_QUEUES }: Pick<WorkerParts['config'], 'WORKER_QUEUES'>): readonly Sender[] =>
  SENDERS.filter(({ name }) => WORKER_QUEUES === 'all' || WORKER_QUEUES === name);

/**
 * The root module of the notification worker. On shutdown the processors first finish their jobs or give them back to the queue
 * (beforeApplicationShutdown), then the HTTP server closes, then the connections.
 */
@Module({})
export class AppModule implements OnApplicationShutdown {
  constructor(@Inject(PARTS) private readonly parts: WorkerParts) {}

  static register(parts: WorkerParts): DynamicModule {
    const { config, logger, metrics, database, redis } = parts;
    const senders = sendersOf(config);
    return {
      module: AppModule,
      imports: [
        SchedulingModule.register(logger),
        SendingModule.register(parts),
        ...senders.map((sender) => sender.register(parts)),
        HealthModule.register({
          metrics,
          ready: [
            { name: 'postgresql', vital: true, probe: () => pingDatabase(database) },
            { name: 'redis', vital: true, probe: () => redis.ping() },
            ...senders
              .flatMap(({ queues }) => queues)
              .map((queue) => ({
                name: `consumer of ${queue}`,
                vital: true,
                probe: () => assertHasConsumer(redis, JOBS_PREFIX, queue),
              })),
          ],
        }),
      ],
      controllers: mailboxPages(config),
      providers: [
        { provide: PARTS, useValue: parts },
        { provide: PostgresMailbox, useValue: parts.mailbox },
        {
          provide: ConsumerHeartbeats,
          inject: [PeriodicTasks, ...senders.map(({ processor }) => processor)],
          useFactory: (tasks: PeriodicTasks, ...processors: QueueProcessor[]) =>
            new ConsumerHeartbeats(
              redis,
              JOBS_PREFIX,
              processors.flatMap(({ consumers }): readonly Pick<QueueConsumer<never>, 'queue' | 'isConsuming'>[] => consumers),
              tasks,
            ),
        },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    const { database, statements, redis, jobsRedis, alerts } = this.parts;
    await alerts.settled();
    // The connection of BullMQ has no command in progress any more. It is not closed with QUIT, which would wait for ever if
    // Redis is down.
    jobsRedis.disconnect();
    await closeRedis(redis);
    await Promise.all([statements.close(), database.destroy()]);
  }
}
