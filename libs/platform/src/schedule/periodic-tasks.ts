import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Logger } from '../logging/logger.ts';
import { PeriodicTask, type Run, type TaskDefinition } from './periodic-task.ts';

/**
 * The periodic tasks of a service. They start with the service. At shutdown they end in `onModuleDestroy`, the first phase of
 * Nest's shutdown: connections are closed in later phases, when no task uses them any more. The module is global, so its hook
 * runs after the hooks of the other modules in the same phase; a hook that needs the tasks to have ended calls `stop`.
 */
export class PeriodicTasks implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly tasks = new Map<string, PeriodicTask>();
  private isStarted = false;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly logger: Logger,
    /**
     * True if this process does background work: it runs the tasks and subscribes to messages. False in the CLI, which only calls
     * use cases.
     */
    readonly isEnabled: boolean,
  ) {}

  /** Declares a task. Must be called before the service starts, so that no task is missing in the list. */
  add(definition: TaskDefinition, run: Run): PeriodicTask {
    const { name } = definition;
    if (this.isStarted) throw new Error(`the periodic task '${name}' is declared after the start`);
    if (this.tasks.has(name)) throw new Error(`two periodic tasks have the name '${name}'`);
    const task = new PeriodicTask(definition, run, this.logger);
    this.tasks.set(name, task);
    return task;
  }

  get definitions(): readonly TaskDefinition[] {
    return [...this.tasks.values()].map(({ definition }) => definition);
  }

  onApplicationBootstrap(): void {
    this.isStarted = true;
    if (!this.isEnabled) return;
    for (const [name, task] of this.tasks) this.registry.addInterval(name, task.start());
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  /** Starts no further run, and waits until the current runs of all tasks have ended. */
  stop(): Promise<void> {
    this.stopped ??= Promise.all([...this.tasks.values()].map((task) => task.stop())).then(() => undefined);
    return this.stopped;
  }
}
