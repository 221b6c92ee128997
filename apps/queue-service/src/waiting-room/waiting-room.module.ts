import { Counter } from 'prom-client';
import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { publicUrls } from '#platform/config/settings';
import { Metrics } from '#platform/health/metrics';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import type { QueueServiceConfig } from '../config.ts';
import { REDIS } from '../tokens.ts';
import { AwaitState } from './inbound/await-state.ts';
import { CallPassed } from './application/call-passed.ts';
import { ChangeQueue } from './application/change-queue.ts';
import { ClearListed } from './application/clear-listed.ts';
import { FanConnections } from './application/fan-connections.ts';
import { FollowedLines } from './application/followed-lines.ts';
import { JoinLine } from './application/join-line.ts';
import { LiveFans } from './application/live-fans.ts';
import { ReadPosition } from './application/read-position.ts';
import { MatchUpdates } from './application/match-updates.ts';
import { MessageTexts } from './application/message-texts.ts';
import { MoveLine } from './application/move-line.ts';
import { NewConnections } from './application/new-connections.ts';
import { Blacklist, ConnectedFans, LineMovement, Links, Receipts, WaitingLines } from './application/ports.ts';
import { RefreshFans } from './application/refresh-fans.ts';
import { SharedCount } from './application/shared-count.ts';
import { SignsOfLife } from './application/signs-of-life.ts';
import { TellFans } from './application/tell-fans.ts';
import { AdmissionSchedule } from './inbound/admission.schedule.ts';
import { BlacklistListener } from './inbound/blacklist.listener.ts';
import { ConnectionBudget } from './inbound/connection-budget.ts';
import { CountingSchedule } from './inbound/counting.schedule.ts';
import { FanStreamController } from './inbound/fan-stream.controller.ts';
import { FanGateway } from './inbound/fan.gateway.ts';
import { PositionAnswers } from './inbound/position-answers.ts';
import { nowMs, Pod } from './inbound/pod.ts';
import { PodsListener } from './inbound/pods.listener.ts';
import { QueueConfig } from './inbound/queue-config.ts';
import { QueueInternalController } from './inbound/queue-internal.controller.ts';
import { QueueController } from './inbound/queue.controller.ts';
import { QueueStatusController } from './inbound/queue-status.controller.ts';
import { OpenStreams } from './inbound/stream-device.ts';
import { TellingSchedule } from './inbound/telling.schedule.ts';
import { WaitingRoomMetrics } from './inbound/waiting-room.metrics.ts';
import { ConfiguredLinks } from './outbound/configured-links.ts';
import { assertOneSlotPerMatch } from './outbound/match-keys.ts';
import { RedisBlacklist } from './outbound/redis-blacklist.ts';
import { RedisWaitingLines } from './outbound/redis-waiting-lines.ts';
import { ReplicaConfirmation } from './outbound/replica-confirmation.ts';
import { SignedReceipts } from './outbound/signed-receipts.ts';

/** The waiting room: lines, turns, and the connections of those who wait. */
@Module({})
export class WaitingRoomModule {
  static register(config: QueueServiceConfig, budget: ConnectionBudget): DynamicModule {
    assertOneSlotPerMatch();
    return {
      module: WaitingRoomModule,
      controllers: [QueueController, QueueStatusController, QueueInternalController, FanStreamController],
      providers: [
        ...configured(config, budget),
        ...ports,
        ...updatesOfFans,
        useCase(JoinLine, WaitingLines, Receipts, Blacklist),
        useCase(ClearListed, Blacklist, WaitingLines, LineMovement, ConnectedFans),
        useCase(ReadPosition, WaitingLines),
        useCase(ChangeQueue, WaitingLines, LineMovement),
        useCase(MoveLine, LineMovement),
        {
          provide: CallPassed,
          useFactory: (lines: RedisWaitingLines, { purchaseWindowMs }: QueueConfig) =>
            new CallPassed(lines, lines, purchaseWindowMs),
          inject: [RedisWaitingLines, QueueConfig],
        },
        AwaitState,
        FanGateway,
        OpenStreams,
        PositionAnswers,
        AdmissionSchedule,
        CountingSchedule,
        TellingSchedule,
        PodsListener,
        BlacklistListener,
        {
          provide: WaitingRoomMetrics,
          useFactory: (metrics: Metrics, lines: RedisWaitingLines) => new WaitingRoomMetrics(metrics, budget, lines),
          inject: [Metrics, RedisWaitingLines],
        },
      ],
    };
  }
}

/** One object is all three ports: they differ in who needs what. */
const ports: Provider[] = [WaitingLines, LineMovement, ConnectedFans].map((port) => ({
  provide: port,
  useExisting: RedisWaitingLines,
}));

/** What TellFans is made of. */
const updatesOfFans: Provider[] = [
  useCase(FanConnections, LiveFans, FollowedLines, SignsOfLife, MessageTexts),
  useCase(NewConnections, ConnectedFans, SharedCount, SignsOfLife, FanConnections),
  useCase(RefreshFans, ConnectedFans, FanConnections, SignsOfLife),
  useCase(MatchUpdates, LiveFans, FollowedLines, RefreshFans, MessageTexts),
  useCase(TellFans, NewConnections, FanConnections, MatchUpdates, SignsOfLife),
];

function configured(settings: QueueServiceConfig, budget: ConnectionBudget): Provider[] {
  const config = new QueueConfig(
    settings.QUEUE_PURCHASE_WINDOW_SECONDS * 1000,
    settings.QUEUE_PERSISTENCE_SECONDS,
    settings.QUEUE_UPDATE_SECONDS * 1000,
    settings.INTERNAL_AUTH_SECRET,
    settings.QUEUE_PRESENCE_SECONDS * 1000,
  );
  const pod = new Pod();
  const { publicUrl, queuePublicUrl } = publicUrls(settings);
  return [
    { provide: ConnectionBudget, useValue: budget },
    { provide: QueueConfig, useValue: config },
    { provide: Pod, useValue: pod },
    { provide: Links, useValue: new ConfiguredLinks(publicUrl, queuePublicUrl) },
    { provide: Receipts, useValue: new SignedReceipts(settings.QUEUE_RECEIPT_SECRET) },
    { provide: Blacklist, useFactory: (redis: RedisConnection) => new RedisBlacklist(redis, nowMs), inject: [REDIS] },
    { provide: LiveFans, useValue: new LiveFans() },
    {
      provide: RedisWaitingLines,
      useFactory: (redis: RedisConnection, { registry }: Metrics) => {
        const replicas = settings.QUEUE_CONFIRM_REPLICAS;
        const unconfirmed = new Counter({
          name: 'queue_unconfirmed_total',
          help: 'Joins and grants no replica confirmed in time.',
          registers: [registry],
        });
        const confirmation = replicas > 0 ? new ReplicaConfirmation(replicas, () => unconfirmed.inc()) : undefined;
        return new RedisWaitingLines(redis, config, confirmation);
      },
      inject: [REDIS, Metrics],
    },
    {
      provide: SignsOfLife,
      useFactory: (entries: ConnectedFans, live: LiveFans) => new SignsOfLife(entries, live, config),
      inject: [ConnectedFans, LiveFans],
    },
    {
      provide: SharedCount,
      useFactory: (entries: ConnectedFans, live: LiveFans, signs: SignsOfLife) => new SharedCount(entries, live, signs, pod.id),
      inject: [ConnectedFans, LiveFans, SignsOfLife],
    },
    {
      provide: MessageTexts,
      useFactory: (links: Links) => new MessageTexts(links, config.purchaseWindowMs),
      inject: [Links],
    },
    {
      provide: FollowedLines,
      useFactory: (entries: ConnectedFans) => new FollowedLines(entries, config),
      inject: [ConnectedFans],
    },
  ];
}
