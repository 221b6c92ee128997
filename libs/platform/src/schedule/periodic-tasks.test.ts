import { Inject, Injectable, Module, type BeforeApplicationShutdown, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import 'reflect-metadata';
import { createLogger } from '../logging/logger.ts';
import type { Run } from './periodic-task.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import { SchedulingModule } from './scheduling.module.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A connection that a module closes in `beforeApplicationShutdown`, as most modules do. */
@Injectable()
class Connection implements BeforeApplicationShutdown {
  isOpen = true;
  /** Uses of the connection after it was closed. */
  usesTooLate = 0;
  uses = 0;

  use(): void {
    this.uses += 1;
    if (!this.isOpen) this.usesTooLate += 1;
  }

  /** Uses the connection at its start and 100 ms later. */
  async useTwice(): Promise<void> {
    this.use();
    await pause(100);
    this.use();
  }

  beforeApplicationShutdown(): void {
    this.isOpen = false;
  }
}

/** What the feature of a test adds to the tasks. */
const SETUP = Symbol('setup');
type Setup = (tasks: PeriodicTasks, connection: Connection) => void;

@Injectable()
class Feature {
  constructor(tasks: PeriodicTasks, connection: Connection, @Inject(SETUP) setup: Setup) {
    setup(tasks, connection);
  }
}

@Module({})
class FeatureModule {}

let app: INestApplicationContext | undefined;
afterEach(() => app?.close());

async function open(setup: Setup, options = { isEnabled: true }): Promise<Connection> {
  const feature = {
    module: FeatureModule,
    imports: [SchedulingModule.register(logger, options)],
    providers: [Feature, Connection, { provide: SETUP, useValue: setup }],
  };
  app = await NestFactory.createApplicationContext(feature, { logger: false, abortOnError: false });
  return app.get(Connection);
}

const task = (name: string, everyMs = 60_000) => ({ name, everyMs, does: 'Serves a test.' });
const nothing: Run = () => undefined;

test('PeriodicTasks: each task is registered with @nestjs/schedule under its name, and listed', async () => {
  await open((tasks) => {
    tasks.add(task('first'), nothing);
    tasks.add(task('second'), nothing);
  });
  expect(app?.get(SchedulerRegistry, { strict: false }).getIntervals()).toEqual(['first', 'second']);
  expect(app?.get(PeriodicTasks).definitions.map(({ name }) => name)).toEqual(['first', 'second']);
});

test('PeriodicTasks: two tasks with one name are refused', async () => {
  const twice = open((tasks) => {
    tasks.add(task('same'), nothing);
    tasks.add(task('same'), nothing);
  });
  await expect(twice).rejects.toThrow(`two periodic tasks have the name 'same'`);
});

test('PeriodicTasks: a task that is declared after the start is refused, because it would not run', async () => {
  await open(() => undefined);
  expect(() => app?.get(PeriodicTasks).add(task('late'), nothing)).toThrow(`'late' is declared after the start`);
});

test('PeriodicTasks: in a process without background work no task runs, but all are listed', async () => {
  const connection = await open((tasks, used) => void tasks.add(task('idle', 10), () => used.use()).runSoon(), {
    isEnabled: false,
  });
  await pause(50);
  expect(connection.uses).toBe(0);
  expect(app?.get(SchedulerRegistry, { strict: false }).getIntervals()).toEqual([]);
  expect(app?.get(PeriodicTasks).definitions).toHaveLength(1);
});

test('PeriodicTasks: at shutdown the current run ends before connections are closed, and no further run starts', async () => {
  const connection = await open((tasks, used) => void tasks.add(task('uses', 10), () => used.useTwice()));
  await pause(20);
  await app?.close();
  const { uses } = connection;
  await pause(150);
  expect([connection.usesTooLate, connection.uses]).toEqual([0, uses]);
  expect(uses).toBe(2);
});

test('negative control: a run that setInterval alone has started uses the connection after it was closed', async () => {
  let timer: NodeJS.Timeout | undefined;
  const connection = await open((_tasks, used) => {
    timer = setInterval(() => void used.useTwice(), 10);
  });
  await pause(20);
  clearInterval(timer);
  await app?.close();
  await pause(150);
  expect(connection.usesTooLate).toBeGreaterThan(0);
});
