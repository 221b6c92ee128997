import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { z } from 'zod';
import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import { QUEUE_PODS_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { LOGGER, SUBSCRIBER } from '../../tokens.ts';
import { AwaitState } from './await-state.ts';
import { SharedDeviceList } from '../application/shared-device-list.ts';
import { PresenceReports } from '../application/presence-reports.ts';
import { FanUpdates } from '../application/fan-updates.ts';
import { nowMs } from './pod.ts';

/** The fields of a published message that this listener reads: the match, and the fans or connections if the message names them. */
const hint = z.object({
  event: z.string().optional(),
  match_id: z.string(),
  user_id: z.string().optional(),
  /** Fans whose last connection to another pod has closed. */
  user_ids: z.array(z.string()).optional(),
  /**
   * Connections of one fan. Kind `replaced`: newer connections have replaced them, and their pods must close them. Kind `counted`:
   * a stream was refused because of them, and their pods must check that they exist.
   */
  device_ids: z.array(z.string()).optional(),
  kind: z.string().optional(),
});

/**
 * When a fan has left the line, fans near the front get their new position after this delay. A hundred departures in a second
 * cause ten updates.
 */
const UPDATE_DELAY_MS = 100;
/** How often the subscriber pings Redis. Without pings a connection that only listens would not notice that it is dead. */
const PING_INTERVAL_MS = 5000;

/**
 * Receives the messages that any pod publishes about changes of a line. A message is only a hint: the data for fans is then read from
 * Redis. Messages that are lost while the subscriber reconnects do no harm: the next regular update reads the same data.
 */
@Injectable()
export class PodsListener implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly pendingUpdates = new Map<string, NodeJS.Timeout>();
  private pingTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly fanUpdates: FanUpdates,
    private readonly presence: PresenceReports,
    private readonly deviceList: SharedDeviceList,
    private readonly awaitState: AwaitState,
    @Inject(SUBSCRIBER) private readonly subscriber: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.subscriber.on('message', (_channel: string, text: string) => void this.receive(text));
    // ioredis renews subscriptions after a reconnect by itself, but the first one needs a ready connection.
    const subscribe = () => void this.subscriber.subscribe(QUEUE_EVENTS_CHANNEL, QUEUE_PODS_CHANNEL).catch(() => undefined);
    if (this.subscriber.status === 'ready') subscribe();
    else this.subscriber.once('ready', subscribe);
    this.pingTimer = setInterval(() => void this.subscriber.ping().catch(() => undefined), PING_INTERVAL_MS);
  }

  onModuleDestroy(): void {
    clearInterval(this.pingTimer);
    for (const timer of this.pendingUpdates.values()) clearTimeout(timer);
  }

  private async receive(text: string): Promise<void> {
    try {
      const { event, match_id, user_id, user_ids, device_ids, kind } = hint.parse(JSON.parse(text));
      // `queue.state_needed` asks the monolith for the state of a match; pods have nothing to do.
      if (event === 'queue.state_needed') return;
      if (kind === 'queue') this.awaitState.changed(match_id);
      if (user_id && device_ids) {
        const devices = device_ids.map((websocketId) => ({ userId: user_id, websocketId }));
        if (kind === 'replaced') return this.deviceList.closeReplaced(match_id, devices);
        return this.deviceList.reportMissing(match_id, devices);
      }
      if (user_ids) return await this.presence.confirmPresence(match_id, user_ids);
      if (user_id) await this.fanUpdates.refreshFan(match_id, user_id, nowMs());
      if (user_id) this.updateSoon(match_id);
      else await this.fanUpdates.updateMatch(match_id, nowMs());
    } catch (error) {
      this.logger.debug({ err: error }, 'a published hint could not be processed; the next regular update makes up for it');
    }
  }

  /** Updates the fans near the front after a short delay. All hints about a match within the delay cause one update. */
  private updateSoon(matchId: string): void {
    if (this.pendingUpdates.has(matchId)) return;
    const update = () => {
      this.pendingUpdates.delete(matchId);
      this.fanUpdates.updateMatch(matchId, nowMs(), 'near').catch(() => undefined);
    };
    this.pendingUpdates.set(matchId, setTimeout(update, UPDATE_DELAY_MS));
  }
}
