import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { PostgresJobs } from '#messaging/jobs/job-ledger';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { alertChannels } from '#platform/config/alert-channels';
import type { Logger } from '#platform/logging/logger';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../../config.ts';
import { FansApi } from '../../fans/fans.api.ts';
import { CONFIG, LOGGER, REDIS } from '../../tokens.ts';
import { StoredTurns } from '../stored-turns.api.ts';
import { FollowWaitingRoom } from './application/follow-waiting-room.ts';
import { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './application/waiting-room-ports.ts';
import { QueueEventsListener } from './inbound/queue-events.listener.ts';
import { JoinAlerts } from './outbound/join-alerts.ts';
import { PostgresPurchaseWindows } from './outbound/postgres-purchase-windows.ts';
import { PostgresStoredTurns } from './outbound/postgres-stored-turns.ts';
import { PostgresStreamCursors } from './outbound/postgres-stream-cursors.ts';
import { GrantedTurns } from './outbound/redis-granted-turns.ts';
import { RedisWaitingRoomEvents } from './outbound/redis-waiting-room-events.ts';
import { PostgresWaitingRoomConsequences } from './outbound/waiting-room-consequences.ts';

/** Wires the feature `turns`: the turns that the waiting room grants and ends are stored in PostgreSQL. */
export const turnsProviders: Provider[] = [
  useCase(GrantedTurns, REDIS),
  useCase(PostgresPurchaseWindows, DataSource, GrantedTurns),
  adapter(WaitingRoomEvents, RedisWaitingRoomEvents, REDIS, LOGGER),
  adapter(StreamCursors, PostgresStreamCursors, DataSource),
  adapter(
    WaitingRoomConsequences,
    PostgresWaitingRoomConsequences,
    PostgresPurchaseWindows,
    FansApi,
    Outbox,
    Ids,
    Clock,
    JoinAlerts,
  ),
  {
    provide: JoinAlerts,
    useFactory: (
      dataSource: DataSource,
      transactions: TransactionManager,
      jobs: PostgresJobs,
      config: MonolithConfig,
      logger: Logger,
    ) => new JoinAlerts(new AlertNotes(dataSource, transactions, jobs), alertChannels(config), logger),
    inject: [DataSource, TransactionManager, Jobs, CONFIG, LOGGER],
  },
  useCase(FollowWaitingRoom, TransactionManager, WaitingRoomEvents, StreamCursors, WaitingRoomConsequences),
  adapter(StoredTurns, PostgresStoredTurns, DataSource),
  QueueEventsListener,
];
