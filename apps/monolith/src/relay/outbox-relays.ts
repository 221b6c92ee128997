import type { Logger } from '#platform/logging/logger';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { RelayBell } from '#messaging/outbox/relay-bell';
import { RelayLoop } from '#messaging/outbox/relay-loop';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, LOOPS } from '../tokens.ts';
import { OutboxDestinations } from './outbox-destinations.ts';
import type { RelayApi } from './relay.api.ts';

/**
 * Runs one relay for each destination, so that a destination that is down does not delay the messages to others. Every replica
 * runs all relays; SKIP LOCKED divides the messages between them.
 */
@Injectable()
export class OutboxRelays implements RelayApi, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly relays: readonly OutboxRelay[];
  private readonly loops: ReadonlyMap<string, RelayLoop>;

  constructor(
    dataSource: DataSource,
    private readonly destinations: OutboxDestinations,
    private readonly bell: RelayBell,
    @Inject(LOGGER) logger: Logger,
    @Inject(LOOPS) private readonly isLooping: boolean,
  ) {
    this.relays = destinations.all.map((destination) => new OutboxRelay(dataSource, destination, logger));
    this.loops = new Map(
      this.relays.map((relay) => [
        relay.destination.name,
        new RelayLoop(`relay ${relay.destination.name}`, () => relay.runOnce(), logger),
      ]),
    );
  }

  onApplicationBootstrap(): void {
    if (!this.isLooping) return;
    this.bell.onRing((names) => {
      for (const name of names) this.loops.get(name)?.nudge();
    });
    for (const loop of this.loops.values()) loop.start();
  }

  /** Stops the relays. Messages that were not delivered yet stay in the table `outbox`. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.loops.values()].map((loop) => loop.stop()));
    await this.destinations.close();
  }
}
