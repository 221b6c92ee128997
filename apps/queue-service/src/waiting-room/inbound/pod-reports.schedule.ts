import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SharedDeviceList } from '../application/shared-device-list.ts';
import { PresenceReports } from '../application/presence-reports.ts';
import { FanUpdates } from '../application/fan-updates.ts';

const REPORT_CLOSED_INTERVAL_MS = 100;
const HEARTBEAT_INTERVAL_MS = 1000;

/** The pod's reports about its connections: closed ones ten times a second, a heartbeat each second, its removal at shutdown. */
@Injectable()
export class PodReportsSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly presence: PresenceReports,
    private readonly deviceList: SharedDeviceList,
    private readonly fanUpdates: FanUpdates,
  ) {}

  onApplicationBootstrap(): void {
    this.timers.push(
      setInterval(() => void this.presence.reportClosed().catch(() => undefined), REPORT_CLOSED_INTERVAL_MS),
      setInterval(
        () => void this.deviceList.sendHeartbeats((replaced) => this.fanUpdates.closeReplaced(replaced)),
        HEARTBEAT_INTERVAL_MS,
      ),
    );
  }

  /**
   * Runs before FanUpdatesSchedule closes all connections. The connections closed then are not reported one by one: their fans
   * reconnect to other pods.
   */
  async onModuleDestroy(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.allSettled([this.presence.reportClosed(), this.deviceList.removePod()]);
  }
}
