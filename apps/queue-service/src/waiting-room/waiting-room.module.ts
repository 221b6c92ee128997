import { Counter } from 'prom-client';
import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { publicUrls } from '#platform/config/settings';
import { Metrics } from '#platform/health/metrics';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import type { QueueServiceConfig } from '../config.ts';
import { REDIS } from '../tokens.ts';
import { AwaitState } from './inbound/await-state.ts';
import { AnnouncePositions } from './application/announce-positions.ts';
import { ChangeQueue } from './application/change-queue.ts';
import { RemoveBlacklistedFans } from './application/remove-blacklisted-fans.ts';
import { FanConnections } from './application/fan-connections.ts';
import { FollowedLines } from './application/followed-lines.ts';
import { JoinLine } from './application/join-line.ts';
import { Links } from './application/links.ts';
import { LiveFans } from './application/live-fans.ts';
import { ReadPosition } from './application/read-position.ts';
import { MatchUpdates } from './application/match-updates.ts';
import { MessageTexts } from './application/message-texts.ts';
import { AdvanceLine } from './application/advance-line.ts';
import { NewConnections } from './application/new-connections.ts';
import { Blacklist, ConnectedFans, Receipts, WaitingLines } from './application/ports.ts';
import { RefreshFans } from './application/refresh-fans.ts';
import { SharedDeviceList } from './application/shared-device-list.ts';
import { PresenceReports } from './application/presence-reports.ts';
import { FanUpdates } from './application/fan-updates.ts';
import { AdmissionSchedule } from './inbound/admission.schedule.ts';
import { BlacklistListener } from './inbound/blacklist.listener.ts';
import { ConnectionBudget } from './inbound/connection-budget.ts';
import { PodReportsSchedule } from './inbound/pod-reports.schedule.ts';
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
import { FanUpdatesSchedule } from './inbound/fan-updates.schedule.ts';
import { WaitingRoomMetrics } from './inbound/waiting-room.metrics.ts';
import { assertOneSlotPerMatch } from './outbound/match-keys.ts';
import { RedisBlacklist } from './outbound/redis-blacklist.ts';
import { RedisWaitingLines } from './outbound/redis-waiting-lines.ts';
import { ReplicaConfirmation } from './outbound/replica-confirmation.ts';
import { SignedReceipts } from './outbound/signed-receipts.ts';

/** The waiting room: lines, turns, and the connections of waiting fans. */
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
        ...fanUpdatesProviders,
        useCase(JoinLine, WaitingLines, Receipts, Blacklist),
        useCase(RemoveBlacklistedFans, Blacklist, WaitingLines, ConnectedFans),
        useCase(ReadPosition, WaitingLines),
        useCase(ChangeQueue, WaitingLines),
        useCase(AdvanceLine, WaitingLines),
        useCase(AnnouncePositions, WaitingLines, QueueConfig),
        AwaitState,
        FanGateway,
        OpenStreams,
        PositionAnswers,
        AdmissionSchedule,
        PodReportsSchedule,
        FanUpdatesSchedule,
        PodsListener,
        BlacklistListener,
        useCase(WaitingRoomMetrics, Metrics, ConnectionBudget, WaitingLines),
      ],
    };
  }
}

/** The ports WaitingLines and ConnectedFans: one RedisWaitingLines implements both. */
const ports: Provider[] = [WaitingLines, ConnectedFans].map((port) => ({ provide: port, useExisting: RedisWaitingLines }));

/** FanUpdates and the classes that do its work. */
const fanUpdatesProviders: Provider[] = [
  useCase(MessageTexts, Links, QueueConfig),
  useCase(FollowedLines, ConnectedFans, QueueConfig),
  useCase(PresenceReports, ConnectedFans, LiveFans, QueueConfig),
  useCase(SharedDeviceList, ConnectedFans, LiveFans, PresenceReports, Pod),
  useCase(FanConnections, LiveFans, FollowedLines, PresenceReports, MessageTexts),
  useCase(NewConnections, ConnectedFans, SharedDeviceList, PresenceReports, FanConnections),
  useCase(RefreshFans, ConnectedFans, FanConnections, PresenceReports),
  useCase(MatchUpdates, LiveFans, FollowedLines, RefreshFans, MessageTexts),
  useCase(FanUpdates, NewConnections, FanConnections, MatchUpdates, PresenceReports),
];

function configured(settings: QueueServiceConfig, budget: ConnectionBudget): Provider[] {
  const config = new QueueConfig(
    settings.QUEUE_PURCHASE_WINDOW_SECONDS * 1000,
    settings.QUEUE_PERSISTENCE_SECONDS,
    settings.QUEUE_UPDATE_SECONDS * 1000,
    settings.INTERNAL_AUTH_SECRET,
    settings.QUEUE_PRESENCE_SECONDS * 1000,
  );
  const { publicUrl, queuePublicUrl } = publicUrls(settings);
  return [
    { provide: ConnectionBudget, useValue: budget },
    { provide: QueueConfig, useValue: config },
    { provide: Pod, useValue: new Pod() },
    { provide: Links, useValue: new Links(publicUrl, queuePublicUrl) },
    { provide: Receipts, useValue: new SignedReceipts(settings.QUEUE_RECEIPT_SECRET) },
    { provide: Blacklist, useFactory: (redis: RedisConnection) => new RedisBlacklist(redis, nowMs), inject: [REDIS] },
    { provide: LiveFans, useValue: new LiveFans() },
    {
      provide: RedisWaitingLines,
      useFactory: (redis: RedisConnection, { registry }: Metrics) => {
        const replicas = settings.QUEUE_CONFIRM_REPLICAS;
        const unconfirmed = new Counter({
          name: 'queue_unconfirmed_total',
          help: 'Script calls with joins or grants that the replicas did not confirm in time.',
          registers: [registry],
        });
        const confirmation = replicas > 0 ? new ReplicaConfirmation(replicas, () => unconfirmed.inc()) : undefined;
        return new RedisWaitingLines(redis, config, confirmation);
      },
      inject: [REDIS, Metrics],
    },
  ];
}
