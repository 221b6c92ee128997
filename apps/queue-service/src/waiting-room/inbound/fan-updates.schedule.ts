import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { FanUpdates } from '../application/fan-updates.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { FanGateway } from './fan.gateway.ts';
import { OpenStreams } from './stream-device.ts';
import { nowMs } from './pod.ts';
import { QueueConfig } from './queue-config.ts';

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
export class FanUpdatesSchedule implements BeforeApplicationShutdown {
  constructor(
    private readonly fanUpdates: FanUpdates,
    private readonly gateway: FanGateway,
    streams: OpenStreams,
    private readonly budget: ConnectionBudget,
    config: QueueConfig,
    tasks: PeriodicTasks,
  ) {
    const updates = {
      name: 'fan updates',
      everyMs: config.runIntervalMs,
      setting: 'at most `QUEUE_UPDATE_SECONDS` / 2 and `QUEUE_PRESENCE_SECONDS` / 3',
      does: 'Sends the fans with a connection to this pod what has changed for them, and renews their presence.',
    };
    tasks.add(updates, () => fanUpdates.updateAll(nowMs()));
    tasks.add({ name: 'socket pings', everyMs: 25_000, does: 'Pings every WebSocket.' }, () => gateway.pingAll());
    tasks.add({ name: 'stream keep-alives', everyMs: 15_000, does: 'Sends a keep-alive on every event stream.' }, () =>
      streams.sendKeepAlives(),
    );
  }

  /** Closes all connections. Each client gets its own delay before it reconnects. All periodic tasks have ended before. */
  async beforeApplicationShutdown(): Promise<void> {
    this.budget.isDraining = true;
    const spreadMs = Math.min(SPREAD_MS.max, Math.max(SPREAD_MS.min, this.budget.open * SPREAD_PER_CONNECTION_MS));
    this.fanUpdates.drain(() => 500 + Math.floor(Math.random() * spreadMs));
    const deadlineMs = nowMs() + CLOSE_TIMEOUT_MS;
    while (this.budget.open > 0 && nowMs() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    this.gateway.terminateAll();
  }
}
