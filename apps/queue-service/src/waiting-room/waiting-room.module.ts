import { Counter } from 'prom-client';
import { Inject, Module, type DynamicModule, type OnApplicationShutdown, type Provider } from '@nestjs/common';
import { publicUrls } from '#platform/config/settings';
import { HealthModule } from '#platform/health/health.module';
import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import { closeRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { SchedulingModule } from '#platform/schedule/scheduling.module';
import { useCase } from '#platform/use-case';
import type { QueueServiceConfig } from '../config.ts';
import { LOGGER, SUBSCRIBER } from '../tokens.ts';
import { AdvanceLine } from './application/advance-line.ts';
import { AnnouncePositions } from './application/announce-positions.ts';
import { ChangeQueue } from './application/change-queue.ts';
import { CountJoins } from './application/count-joins.ts';
import { FanConnections } from './application/fan-connections.ts';
import { FanUpdates } from './application/fan-updates.ts';
import { FollowedLines } from './application/followed-lines.ts';
import { ForgetFan } from './application/forget-fan.ts';
import { JoinLine } from './application/join-line.ts';
import { LiveFans } from './application/live-fans.ts';
import { MessageTexts } from './application/message-texts.ts';
import { NewConnections } from './application/new-connections.ts';
import { Blacklist, ConnectedFans, JoinCounts, LineReporter, Receipts, WaitingLines } from './application/ports.ts';
import { PresenceReports } from './application/presence-reports.ts';
import { ReadPosition } from './application/read-position.ts';
import { RemoveBlacklistedFans } from './application/remove-blacklisted-fans.ts';
import { SharedDeviceList } from './application/shared-device-list.ts';
import { AdmissionSchedule } from './inbound/admission.schedule.ts';
import { AwaitState } from './inbound/await-state.ts';
import { BlacklistListener } from './inbound/blacklist.listener.ts';
import { ConnectionBudget } from './inbound/connection-budget.ts';
import { FanGateway } from './inbound/fan.gateway.ts';
import { FanStreamController } from './inbound/fan-stream.controller.ts';
import { FanUpdatesSchedule } from './inbound/fan-updates.schedule.ts';
import { ForgetFanController } from './inbound/forget-fan.controller.ts';
import { JoinsByAddressMetric } from './inbound/joins-by-address.metric.ts';
import { nowMs, Pod } from './inbound/pod.ts';
import { PodReportsSchedule } from './inbound/pod-reports.schedule.ts';
import { PodsListener } from './inbound/pods.listener.ts';
import { PositionAnswers } from './inbound/position-answers.ts';
import { QueueConfig } from './inbound/queue-config.ts';
import { QueueInternalController } from './inbound/queue-internal.controller.ts';
import { QueueStatusController } from './inbound/queue-status.controller.ts';
import { QueueController } from './inbound/queue.controller.ts';
import { WaitingRoomMetrics } from './inbound/waiting-room.metrics.ts';
import { RedisBlacklist } from './outbound/redis-blacklist.ts';
import { RedisJoinCounts } from './outbound/redis-join-counts.ts';
import { RedisLineReporter } from './outbound/redis-line-reporter.ts';
import { RedisWaitingLines } from './outbound/redis-waiting-lines.ts';
import { ReplicaConfirmation } from './outbound/replica-confirmation.ts';
import { SignedReceipts } from './outbound/signed-receipts.ts';

interface QueueServiceParts {
  readonly config: QueueServiceConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly connections: Readonly<Record<'redis' | 'limitsRedis' | 'subscriber', RedisConnection>>;
  readonly budget: ConnectionBudget;
}

const CONNECTIONS = Symbol('connections');

/**
 * The root module of the queue service, which is the waiting room on Redis and nothing else: lines, turns, and the connections of
 * waiting fans.
 */
@Module({})
export class WaitingRoomModule implements OnApplicationShutdown {
  constructor(@Inject(CONNECTIONS) private readonly connections: QueueServiceParts['connections']) {}

  static register(parts: QueueServiceParts): DynamicModule {
    const { logger, metrics, connections, budget } = parts;
    return {
      module: WaitingRoomModule,
      imports: [
        SchedulingModule.register(logger),
        HealthModule.register({ metrics, ready: [{ name: 'redis', vital: true, probe: () => connections.redis.ping() }] }),
      ],
      controllers: [QueueController, QueueStatusController, QueueInternalController, ForgetFanController, FanStreamController],
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: CONNECTIONS, useValue: connections },
        { provide: SUBSCRIBER, useValue: connections.subscriber },
        { provide: Metrics, useValue: metrics },
        { provide: ConnectionBudget, useValue: budget },
        ...adapters(parts),
        ...connectedFansProviders,
        useCase(JoinLine, WaitingLines, Receipts, Blacklist, CountJoins),
        useCase(RemoveBlacklistedFans, Blacklist, WaitingLines, ConnectedFans),
        useCase(ReadPosition, WaitingLines),
        useCase(CountJoins, JoinCounts),
        useCase(JoinsByAddressMetric, Metrics, JoinCounts, LineReporter),
        useCase(ChangeQueue, WaitingLines),
        useCase(ForgetFan, WaitingLines),
        useCase(AdvanceLine, WaitingLines),
        useCase(AnnouncePositions, WaitingLines, QueueConfig),
        AwaitState,
        FanGateway,
        PositionAnswers,
        AdmissionSchedule,
        PodReportsSchedule,
        FanUpdatesSchedule,
        PodsListener,
        BlacklistListener,
        useCase(WaitingRoomMetrics, Metrics, ConnectionBudget, WaitingLines, LineReporter),
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.connections).map(closeRedis));
  }
}

/** The classes that keep connected fans up to date. */
const connectedFansProviders: Provider[] = [
  Pod,
  LiveFans,
  useCase(MessageTexts, QueueConfig),
  useCase(FollowedLines, ConnectedFans, QueueConfig),
  useCase(PresenceReports, ConnectedFans, LiveFans, QueueConfig),
  useCase(FanConnections, LiveFans, FollowedLines, PresenceReports, MessageTexts),
  useCase(SharedDeviceList, ConnectedFans, LiveFans, PresenceReports, FanConnections, Pod),
  useCase(NewConnections, ConnectedFans, SharedDeviceList, PresenceReports, FanConnections),
  useCase(FanUpdates, LiveFans, FollowedLines, ConnectedFans, FanConnections, PresenceReports, MessageTexts),
];

/** The settings, and the implementations of the ports. One RedisWaitingLines implements both WaitingLines and ConnectedFans. */
function adapters({ config: settings, metrics, connections: { redis } }: QueueServiceParts): Provider[] {
  const config = new QueueConfig(
    settings.QUEUE_PURCHASE_WINDOW_SECONDS * 1000,
    settings.QUEUE_PERSISTENCE_SECONDS,
    settings.QUEUE_UPDATE_SECONDS * 1000,
    settings.QUEUE_PRESENCE_SECONDS * 1000,
    { internalSecrets: settings.INTERNAL_AUTH_SECRET, tokenSecrets: settings.QUEUE_RECEIPT_SECRET },
    publicUrls(settings),
  );
  const replicas = settings.QUEUE_CONFIRM_REPLICAS;
  const unconfirmed = new Counter({
    name: 'queue_unconfirmed_total',
    help: 'Script calls with joins or grants that the replicas did not confirm in time.',
    registers: [metrics.registry],
  });
  const confirmation = replicas > 0 ? new ReplicaConfirmation(replicas, () => unconfirmed.inc()) : undefined;
  const lines = new RedisWaitingLines(redis, config, confirmation);
  return [
    { provide: QueueConfig, useValue: config },
    { provide: Receipts, useValue: new SignedReceipts(settings.QUEUE_RECEIPT_SECRET) },
    { provide: Blacklist, useValue: new RedisBlacklist(redis, nowMs) },
    { provide: WaitingLines, useValue: lines },
    { provide: ConnectedFans, useValue: lines },
    { provide: JoinCounts, useValue: new RedisJoinCounts(lines, redis, config) },
    { provide: LineReporter, useFactory: (pod: Pod) => new RedisLineReporter(redis, pod), inject: [Pod] },
  ];
}
