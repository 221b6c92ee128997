import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from '#platform/logging/logger';
import { LOGGER } from '../../tokens.ts';
import { TellFans } from '../application/tell-fans.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { FanGateway } from './fan.gateway.ts';
import { OpenStreams } from './stream-device.ts';
import { nowMs } from './pod.ts';
import { QueueConfig } from './queue-config.ts';

const PING_MS = 25_000;
const BREATH_MS = 15_000;
/** How long the peers have to answer our close before the process goes. */
const FAREWELL_MS = 3000;
/** 5,000 fans come back over 20 seconds, a handful within two. */
const SPREAD_PER_CONNECTION_MS = 4;
const SPREAD_MS = { least: 2000, most: 30_000 };

/** The pulse of the connections: rounds, pings, and at the end the farewell. */
@Injectable()
export class TellingSchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly timers: NodeJS.Timeout[] = [];
  private isRunning = false;
  private isAway = false;

  constructor(
    private readonly tellFans: TellFans,
    private readonly gateway: FanGateway,
    private readonly streams: OpenStreams,
    private readonly budget: ConnectionBudget,
    private readonly config: QueueConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timers.push(
      setInterval(() => void this.round(), this.config.roundMs),
      setInterval(() => this.gateway.askForLife(), PING_MS),
      setInterval(() => this.streams.breathe(), BREATH_MS),
    );
  }

  /** Everybody is sent away with a time of their own to come back; admission has stopped before. */
  async beforeApplicationShutdown(): Promise<void> {
    this.budget.isDraining = true;
    for (const timer of this.timers) clearInterval(timer);
    const spreadMs = Math.min(SPREAD_MS.most, Math.max(SPREAD_MS.least, this.budget.open * SPREAD_PER_CONNECTION_MS));
    this.tellFans.drain(() => 500 + Math.floor(Math.random() * spreadMs));
    const giveUpAt = nowMs() + FAREWELL_MS;
    while (this.budget.open > 0 && nowMs() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 20));
    this.gateway.cutOff();
  }

  private async round(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      await this.tellFans.updateAll(nowMs());
      if (this.isAway) this.logger.info('fans are told their places again');
      this.isAway = false;
    } catch (error) {
      if (!this.isAway) this.logger.error({ err: error }, 'fans cannot be told their entries: Redis does not answer');
      this.isAway = true;
    } finally {
      this.isRunning = false;
    }
  }
}
