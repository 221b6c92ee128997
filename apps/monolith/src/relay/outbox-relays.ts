import type { Logger } from '#platform/logging/logger';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { RelayBell } from '#messaging/outbox/relay-bell';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER } from '../tokens.ts';
import { OutboxDestinations } from './outbox-destinations.ts';
import type { RelayApi } from './relay.api.ts';

/**
 * Runs one relay for each destination, so that a destination that is down does not delay the messages to others. Every replica
 * runs all relays; SKIP LOCKED divides the messages between them.
 */
@Injectable()
export class OutboxRelays implements RelayApi, BeforeApplicationShutdown {
  readonly relays: readonly OutboxRelay[];

  constructor(
    dataSource: DataSource,
    private readonly destinations: OutboxDestinations,
    bell: RelayBell,
    tasks: PeriodicTasks,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.relays = destinations.all.map((destination) => new OutboxRelay(dataSource, destination, logger));
    const runs = new Map(this.relays.map((relay) => [relay.destination.name, addTask(tasks, relay)]));
    bell.onRing((names) => {
      for (const name of names) runs.get(name)?.runSoon();
    });
  }

  /** The relays have stopped. Messages that were not delivered yet stay in the table `outbox`. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.destinations.close();
  }
}

/**
 * A relay runs at once after a commit that wrote messages for it. We do not use NOTIFY for this, because a NOTIFY in the writing
 * transaction made 64 clients 3.4–5.6 times slower (research/limits.md §7).
 */
function addTask(tasks: PeriodicTasks, relay: OutboxRelay): PeriodicTask {
  const { name } = relay.destination;
  const definition = {
    name: `relay ${name}`,
    // The longest delay of a message whose process died after the commit and before it woke the relay.
    everyMs: 1000,
    pausesAfterFailure: true,
    does: `Delivers the outbox messages of the destination \`${name}\`. Runs at once after a commit that wrote such messages.`,
  };
  return tasks.add(definition, () => relay.runOnce());
}
