import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { HealthModule } from '#platform/health/health.module';
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

/**
 * The root module of the notification worker. On shutdown the processors first finish their jobs or give them back to the queue
 * (beforeApplicationShutdown), then the HTTP server closes, then the connections.
 */
@Module({})
export class AppModule implements OnApplicationShutdown {
  constructor(@Inject(PARTS) private readonly parts: WorkerParts) {}

  static register(parts: WorkerParts): DynamicModule {
    const { config, logger, metrics, database, redis } = parts;
    return {
      module: AppModule,
      imports: [
        SchedulingModule.register(logger),
        SendingModule.register(parts),
        EmailModule.register(parts),
        PushModule.register(parts),
        HealthModule.register({
          metrics,
          ready: [
            { name: 'postgresql', vital: true, probe: () => pingDatabase(database) },
            { name: 'redis', vital: true, probe: () => redis.ping() },
            ...jobQueues.map((queue) => ({
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
          inject: [EmailProcessor, PushProcessor, PeriodicTasks],
          useFactory: (email: EmailProcessor, push: PushProcessor, tasks: PeriodicTasks) =>
            new ConsumerHeartbeats(redis, JOBS_PREFIX, [...email.consumers, ...push.consumers], tasks),
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
