import { HealthModule } from '#platform/health/health.module';
import { pingDatabase } from '#platform/postgres/database';
import { closeRedis } from '#platform/redis/redis-connection';
import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { EmailModule } from './email/email.module.ts';
import { MailboxModule } from './mailbox/mailbox.module.ts';
import type { WorkerParts } from './parts.ts';
import { PushModule } from './push/push.module.ts';

const PARTS = Symbol('parts');

/**
 * The notification worker. Stopping: the processors finish or give back what they hold (beforeApplicationShutdown), HTTP
 * closes, and only then do the connections.
 */
@Module({})
export class AppModule implements OnApplicationShutdown {
  constructor(@Inject(PARTS) private readonly parts: WorkerParts) {}

  static register(parts: WorkerParts): DynamicModule {
    const { metrics, database, redis } = parts;
    return {
      module: AppModule,
      imports: [
        MailboxModule.register(parts),
        EmailModule.register(parts),
        PushModule.register(parts),
        HealthModule.register({
          metrics,
          ready: [
            { name: 'postgresql', vital: true, probe: () => pingDatabase(database) },
            { name: 'redis', vital: true, probe: () => redis.ping() },
          ],
        }),
      ],
      providers: [{ provide: PARTS, useValue: parts }],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    const { database, redis, jobsRedis } = this.parts;
    // Nothing is in flight on it any more, and without Redis a polite QUIT would wait for ever.
    jobsRedis.disconnect();
    await closeRedis(redis);
    await database.destroy();
  }
}
