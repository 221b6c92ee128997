import { Global, Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { HealthModule } from '#platform/health/health.module';
import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import { SchedulingModule } from '#platform/schedule/scheduling.module';
import { closeRedis, type RedisConnection } from '#platform/redis/redis-connection';
import type { QueueServiceConfig } from './config.ts';
import { LOGGER, REDIS, SUBSCRIBER } from './tokens.ts';
import type { ConnectionBudget } from './waiting-room/inbound/connection-budget.ts';
import { WaitingRoomModule } from './waiting-room/waiting-room.module.ts';

interface QueueServiceParts {
  readonly config: QueueServiceConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly connections: Readonly<Record<'redis' | 'limitsRedis' | 'subscriber', RedisConnection>>;
  readonly budget: ConnectionBudget;
}

const CONNECTIONS = Symbol('connections');

/** The queue service: the waiting room on Redis, and nothing else. */
@Global()
@Module({})
export class AppModule implements OnApplicationShutdown {
  constructor(@Inject(CONNECTIONS) private readonly connections: QueueServiceParts['connections']) {}

  static register({ config, logger, metrics, connections, budget }: QueueServiceParts): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SchedulingModule.register(logger),
        HealthModule.register({ metrics, ready: [{ name: 'redis', vital: true, probe: () => connections.redis.ping() }] }),
        WaitingRoomModule.register(config, budget),
      ],
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: CONNECTIONS, useValue: connections },
        { provide: REDIS, useValue: connections.redis },
        { provide: SUBSCRIBER, useValue: connections.subscriber },
        { provide: Metrics, useValue: metrics },
      ],
      exports: [LOGGER, REDIS, SUBSCRIBER, Metrics],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.connections).map(closeRedis));
  }
}
