import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { FansApi } from '../../fans/fans.api.ts';
import { LOGGER, REDIS } from '../../tokens.ts';
import { StoredTurns } from '../stored-turns.api.ts';
import { FollowWaitingRoom } from './application/follow-waiting-room.ts';
import { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './application/waiting-room-ports.ts';
import { QueueEventsListener } from './inbound/queue-events.listener.ts';
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
  adapter(WaitingRoomConsequences, PostgresWaitingRoomConsequences, PostgresPurchaseWindows, FansApi, Outbox, Ids, Clock),
  useCase(FollowWaitingRoom, TransactionManager, WaitingRoomEvents, StreamCursors, WaitingRoomConsequences),
  adapter(StoredTurns, PostgresStoredTurns, DataSource),
  QueueEventsListener,
];
