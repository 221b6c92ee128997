import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from '#platform/logging/logger';
import { LOGGER } from '../../tokens.ts';
import { FanUpdates } from '../application/fan-updates.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { FanGateway } from './fan.gateway.ts';
import { OpenStreams } from './stream-device.ts';
import { nowMs } from './pod.ts';
import { QueueConfig } from './queue-config.ts';

const PING_INTERVAL_MS = 25_000;
const KEEP_ALIVE_INTERVAL_MS = 15_000;
/** How long clients may take to answer our close frame before their sockets are destroyed. */
const CLOSE_TIMEOUT_MS = 3000;
/**
 * Clients of a pod that shuts down reconnect at random times, over a period of 4 ms per connection: 5,000 clients within 20
 * seconds.
 */
const SPREAD_PER_CONNECTION_MS = 4;
/** The shortest and the longest period over which the clients of a pod that shuts down reconnect. */
const SPREAD_MS = { min: 2000, max: 30_000 };

/** Runs the regular updates, the pings of sockets and the keep-alives of streams, and closes all connections at shutdown. */
@Injectable()
export class FanUpdatesSchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly timers: NodeJS.Timeout[] = [];
  private isRunning = false;
  private isRedisDown = false;

  constructor(
    private readonly fanUpdates: FanUpdates,
    private readonly gateway: FanGateway,
    private readonly streams: OpenStreams,
    private readonly budget: ConnectionBudget,
    private readonly config: QueueConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timers.push(
      setInterval(() => void this.update(), this.config.runIntervalMs),
      setInterval(() => this.gateway.pingAll(), PING_INTERVAL_MS),
      setInterval(() => this.streams.sendKeepAlives(), KEEP_ALIVE_INTERVAL_MS),
    );
  }

  /** Closes all connections. Each client gets its own delay before it reconnects. AdmissionSchedule has stopped before. */
  async beforeApplicationShutdown(): Promise<void> {
    this.budget.isDraining = true;
    for (const timer of this.timers) clearInterval(timer);
    const spreadMs = Math.min(SPREAD_MS.max, Math.max(SPREAD_MS.min, this.budget.open * SPREAD_PER_CONNECTION_MS));
    this.fanUpdates.drain(() => 500 + Math.floor(Math.random() * spreadMs));
    const deadlineMs = nowMs() + CLOSE_TIMEOUT_MS;
    while (this.budget.open > 0 && nowMs() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    this.gateway.terminateAll();
  }

  private async update(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      await this.fanUpdates.updateAll(nowMs());
      if (this.isRedisDown) this.logger.info('fans get position updates again');
      this.isRedisDown = false;
    } catch (error) {
      if (!this.isRedisDown) this.logger.error({ err: error }, 'fans get no position updates: Redis does not answer');
      this.isRedisDown = true;
    } finally {
      this.isRunning = false;
    }
  }
}
