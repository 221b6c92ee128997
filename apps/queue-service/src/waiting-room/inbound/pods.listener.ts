import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { z } from 'zod';
import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import { QUEUE_PODS_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { LOGGER, SUBSCRIBER } from '../../tokens.ts';
import { AwaitState } from './await-state.ts';
import { SharedCount } from '../application/shared-count.ts';
import { SignsOfLife } from '../application/signs-of-life.ts';
import { TellFans } from '../application/tell-fans.ts';
import { nowMs } from './pod.ts';

/** Of whatever is published only this is of interest: which match, and which fan if it is about one. */
const hint = z.object({
  event: z.string().optional(),
  match_id: z.string(),
  user_id: z.string().optional(),
  /** Fans another pod has lost. */
  user_ids: z.array(z.string()).optional(),
  /** Connections of a fan that newer ones have replaced, or that count and so keep another one out. */
  device_ids: z.array(z.string()).optional(),
  kind: z.string().optional(),
});

/** When somebody leaves, those near the front hear of it at once; with a hundred leaving in a second, ten times. */
const SOON_MS = 100;
/** Who only listens would never notice that the line is dead. */
const STILL_THERE_MS = 5000;

/**
 * Hears what other pods, or this one, did to a line. A hint only says where to look; what is then told is read from Redis,
 * and what is lost (a reconnecting subscriber hears nothing) the next round makes good.
 */
@Injectable()
export class PodsListener implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly soon = new Map<string, NodeJS.Timeout>();
  private stillThere: NodeJS.Timeout | undefined;

  constructor(
    private readonly tellFans: TellFans,
    private readonly signs: SignsOfLife,
    private readonly count: SharedCount,
    private readonly awaitState: AwaitState,
    @Inject(SUBSCRIBER) private readonly subscriber: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.subscriber.on('message', (_channel: string, text: string) => void this.hear(text));
    // ioredis subscribes again by itself after a reconnection, but the first time needs a connection that is ready.
    const subscribe = () => void this.subscriber.subscribe(QUEUE_EVENTS_CHANNEL, QUEUE_PODS_CHANNEL).catch(() => undefined);
    if (this.subscriber.status === 'ready') subscribe();
    else this.subscriber.once('ready', subscribe);
    this.stillThere = setInterval(() => void this.subscriber.ping().catch(() => undefined), STILL_THERE_MS);
  }

  onModuleDestroy(): void {
    clearInterval(this.stillThere);
    for (const timer of this.soon.values()) clearTimeout(timer);
  }

  private async hear(text: string): Promise<void> {
    try {
      const { event, match_id, user_id, user_ids, device_ids, kind } = hint.parse(JSON.parse(text));
      // For the monolith.
      if (event === 'queue.state_needed') return;
      if (kind === 'queue') this.awaitState.changed(match_id);
      if (user_id && device_ids) {
        const devices = device_ids.map((websocketId) => ({ userId: user_id, websocketId }));
        if (kind === 'replaced') return this.tellFans.endReplaced(this.count.here(match_id, devices));
        return this.count.disown(match_id, devices);
      }
      if (user_ids) return await this.signs.reassure(match_id, user_ids);
      if (user_id) await this.tellFans.refreshFan(match_id, user_id, nowMs());
      if (user_id) this.lookSoon(match_id);
      else await this.tellFans.updateMatch(match_id, nowMs());
    } catch (error) {
      this.logger.debug({ err: error }, 'a hint came to nothing; the next round will tell');
    }
  }

  private lookSoon(matchId: string): void {
    if (this.soon.has(matchId)) return;
    const look = () => {
      this.soon.delete(matchId);
      this.tellFans.updateMatch(matchId, nowMs(), 'near').catch(() => undefined);
    };
    this.soon.set(matchId, setTimeout(look, SOON_MS));
  }
}
