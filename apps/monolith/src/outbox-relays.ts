import { jobQueues } from '#contracts/queue-jobs';
import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import type { Logger } from '#platform/logging/logger';
import { BullmqDestination } from '#platform/outbox/bullmq-destination';
import type { Destination } from '#platform/outbox/destination';
import { OutboxRelay } from '#platform/outbox/outbox-relay';
import { RelayBell } from '#platform/outbox/relay-bell';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { StreamDestination } from '#platform/outbox/stream-destination';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from './config.ts';
import { PaymentDestinations } from './payment/payment.module.ts';
import { CONFIG, LOGGER, LOOPS, REDIS } from './tokens.ts';
import { WaitingRoomDestination } from './waiting-room/outbound/waiting-room-destination.ts';

const PURGE_EVERY_MS = 3_600_000;

/** One relay a destination, so that one that is down holds nobody else back. Every replica runs them; SKIP LOCKED shares. */
@Injectable()
export class OutboxRelays implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly relays: readonly OutboxRelay[];
  private readonly queues: readonly BullmqDestination[];
  private readonly producer: RedisConnection;
  private readonly loops: ReadonlyMap<string, RelayLoop>;
  private readonly purge: RelayLoop;

  constructor(
    dataSource: DataSource,
    payments: PaymentDestinations,
    waitingRoom: WaitingRoomDestination,
    private readonly bell: RelayBell,
    rows: IdempotencyRows,
    @Inject(CONFIG) config: MonolithConfig,
    @Inject(LOGGER) logger: Logger,
    @Inject(REDIS) redis: RedisConnection,
    @Inject(LOOPS) private readonly isLooping: boolean,
  ) {
    this.producer = connectRedis(config.REDIS_URL, { name: 'relay' });
    this.queues = jobQueues.map((name) => new BullmqDestination(name, this.producer));
    const destinations: Destination[] = [...this.queues, new StreamDestination(redis), waitingRoom, ...payments.all];
    this.relays = destinations.map((destination) => new OutboxRelay(dataSource, destination, logger));
    this.loops = new Map(
      this.relays.map((relay) => [relay.destination.name, new RelayLoop(`relay ${relay.destination.name}`, () => relay.runOnce(), logger)]),
    );
    this.purge = new RelayLoop('old idempotency keys', () => rows.purgeOnce(), logger, PURGE_EVERY_MS);
  }

  onApplicationBootstrap(): void {
    if (!this.isLooping) return;
    this.bell.onRing((destinations) => {
      for (const name of destinations) this.loops.get(name)?.nudge();
    });
    for (const loop of this.loops.values()) loop.start();
    this.purge.start();
  }

  /** After the last request was answered: what it wrote and what is not out yet stays in the table. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.loops.values(), this.purge].map((loop) => loop.stop()));
    await Promise.all(this.queues.map((queue) => queue.close()));
    await closeRedis(this.producer);
  }
}
