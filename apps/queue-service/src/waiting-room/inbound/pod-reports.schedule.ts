import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { SharedDeviceList } from '../application/shared-device-list.ts';
import { CountJoins } from '../application/count-joins.ts';
import { LineReporter } from '../application/ports.ts';
import { PresenceReports } from '../application/presence-reports.ts';

const CLOSED_CONNECTIONS: TaskDefinition = {
  name: 'closed connections',
  everyMs: 100,
  does: 'Reports the closed connections of this pod to Redis.',
};
const POD_HEARTBEAT: TaskDefinition = {
  name: 'pod heartbeat',
  everyMs: 1000,
  does: 'Sends a heartbeat for each match with connected fans, so that the connections of this pod count.',
};
const LINE_REPORTER: TaskDefinition = {
  name: 'line reporter',
  everyMs: 2000,
  does: 'Claims, or renews the claim, that this pod is the one that reports the gauges of all lines.',
};

const JOINS_BY_ADDRESS: TaskDefinition = {
  name: 'joins by address',
  everyMs: 1000,
  does: 'Adds the joins of this pod in the first minute after an opening to the counts by address.',
};

/** The pod's reports: its connections (closed ones, heartbeats, its removal at shutdown), and whether it reports the gauges of lines. */
@Injectable()
export class PodReportsSchedule implements OnModuleDestroy {
  constructor(
    private readonly presence: PresenceReports,
    private readonly deviceList: SharedDeviceList,
    private readonly lineReporter: LineReporter,
    private readonly countJoins: CountJoins,
    private readonly tasks: PeriodicTasks,
  ) {
    tasks.add(CLOSED_CONNECTIONS, () => presence.reportClosed());
    tasks.add(POD_HEARTBEAT, () => deviceList.sendHeartbeats());
    tasks.add(JOINS_BY_ADDRESS, () => countJoins.report());
    tasks.add(LINE_REPORTER, async () => void (await lineReporter.claim()));
  }

  /**
   * Waits for the last heartbeat first: a heartbeat after the removal would add the pod again. Runs before FanGateway
   * closes all connections. The connections closed then are not reported one by one: their fans reconnect to other pods.
   */
  async onModuleDestroy(): Promise<void> {
    await this.tasks.stop();
    await Promise.allSettled([
      this.presence.reportClosed(),
      this.deviceList.removePod(),
      this.lineReporter.release(),
      this.countJoins.report(),
    ]);
  }
}
