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
import { QueueKeeper } from './queue-keeper.schedule.ts';
import { StateNeededListener } from './state-needed.listener.ts';
import { HttpWaitingRoom } from './http-waiting-room.ts';
import { QueueRestorer } from './queue-restorer.ts';
import { QueueServiceCalls } from './queue-service-calls.ts';
import { WaitingRoomDestination } from './waiting-room-destination.ts';
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
      provide: HttpWaitingRoom,
      useFactory: (config: MonolithConfig, turns: StoredTurns, purchase: PurchaseApi, dataSource: DataSource) => {
        const calls = new QueueServiceCalls(publicUrls(config).queueInternalUrl, config.INTERNAL_AUTH_SECRET);
        return new HttpWaitingRoom(calls, new QueueRestorer(calls, turns), purchase, dataSource);
      },
      inject: [CONFIG, StoredTurns, PurchaseApi, DataSource],
    },
    { provide: WaitingRoomApi, useExisting: HttpWaitingRoom },
    useCase(WaitingRoomDestination, WaitingRoomApi, CatalogApi, PurchaseApi),
    {
      provide: WaitingRoomDestinations,
      useFactory: (destination: WaitingRoomDestination) => new WaitingRoomDestinations([destination]),
      inject: [WaitingRoomDestination],
    },
    StateNeededListener,
    QueueKeeper,
  ],
  exports: [WaitingRoomApi, WaitingRoomDestinations],
})
export class WaitingRoomModule {}
