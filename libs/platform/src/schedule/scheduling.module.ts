import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { Logger } from '../logging/logger.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Provides `PeriodicTasks` to every module of a service. */
@Module({})
export class SchedulingModule {
  static register(logger: Logger, { isEnabled } = { isEnabled: true }): DynamicModule {
    return {
      module: SchedulingModule,
      global: true,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: PeriodicTasks,
          useFactory: (registry: SchedulerRegistry) => new PeriodicTasks(registry, logger, isEnabled),
          inject: [SchedulerRegistry],
        },
      ],
      exports: [PeriodicTasks],
    };
  }
}
