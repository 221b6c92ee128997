import { Injectable } from '@nestjs/common';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { FanUpdates } from '../application/fan-updates.ts';
import { NewConnections } from '../application/new-connections.ts';
import { FanGateway } from './fan.gateway.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { nowMs } from './pod.ts';
import { QueueConfig } from './queue-config.ts';

/** Runs the regular updates, the pings of sockets and the keep-alives of streams. */
@Injectable()
export class FanUpdatesSchedule {
  constructor(
    fanUpdates: FanUpdates,
    connections: NewConnections,
    gateway: FanGateway,
    budget: ConnectionBudget,
    config: QueueConfig,
    tasks: PeriodicTasks,
  ) {
    const updates = {
      name: 'fan updates',
      everyMs: config.runIntervalMs,
      setting: 'at most `QUEUE_UPDATE_SECONDS` / 2 and `QUEUE_PRESENCE_SECONDS` / 3',
      does: 'Sends the fans with a connection to this pod what has changed for them, and renews their presence.',
    };
    tasks.add(updates, async () => {
      await fanUpdates.updateAll(nowMs());
      await connections.retry(nowMs());
    });
    tasks.add({ name: 'socket pings', everyMs: 25_000, does: 'Pings every WebSocket.' }, () => gateway.pingAll());
    tasks.add({ name: 'stream keep-alives', everyMs: 15_000, does: 'Sends a keep-alive on every event stream.' }, () => {
      for (const stream of budget.streams) stream.sendHeartbeat();
    });
  }
}
