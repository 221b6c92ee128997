import { publicUrls } from '#platform/config/settings';
import { useCase } from '#platform/use-case';
import type { Destination } from '#messaging/outbox/destination';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { StoredTurns } from '../purchase/stored-turns.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG } from '../tokens.ts';
import { RestoreQueue } from './application/restore-queue.ts';
import { QueueKeeper } from './inbound/queue-keeper.schedule.ts';
import { StateNeededListener } from './inbound/state-needed.listener.ts';
import { HttpWaitingRoom } from './outbound/http-waiting-room.ts';
import { QueueRestorer } from './outbound/queue-restorer.ts';
import { QueueServiceCalls } from './outbound/queue-service-calls.ts';
import { WaitingRoomDestination } from './outbound/waiting-room-destination.ts';
import { WaitingRoomApi } from './waiting-room.api.ts';

/** The outbox destinations that the waiting-room context provides to the relay. */
export class WaitingRoomDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** Connects the monolith with the queue service, which runs the waiting lines. */
@Module({
  imports: [CatalogModule, PurchaseModule],
  providers: [
    {
      provide: WaitingRoomApi,
      useFactory: (config: MonolithConfig, turns: StoredTurns, purchase: PurchaseApi, dataSource: DataSource) => {
        const calls = new QueueServiceCalls(publicUrls(config).queueInternalUrl, config.INTERNAL_AUTH_SECRET);
        return new HttpWaitingRoom(calls, new QueueRestorer(calls, turns), purchase, dataSource);
      },
      inject: [CONFIG, StoredTurns, PurchaseApi, DataSource],
    },
    {
      provide: WaitingRoomDestinations,
      useFactory: (waitingRoom: WaitingRoomApi, catalog: CatalogApi, purchase: PurchaseApi) =>
        new WaitingRoomDestinations([new WaitingRoomDestination(waitingRoom, catalog, purchase)]),
      inject: [WaitingRoomApi, CatalogApi, PurchaseApi],
    },
    useCase(RestoreQueue, CatalogApi, WaitingRoomApi),
    StateNeededListener,
    QueueKeeper,
  ],
  exports: [WaitingRoomApi, WaitingRoomDestinations],
})
export class WaitingRoomModule {}
