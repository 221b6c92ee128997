import { publicUrls } from '#platform/config/settings';
import type { Destination } from '#platform/outbox/destination';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG } from '../tokens.ts';
import { QueueKeeper } from './inbound/queue-keeper.schedule.ts';
import { HttpWaitingRoom } from './outbound/http-waiting-room.ts';
import { WaitingRoomDestination } from './outbound/waiting-room-destination.ts';
import { WaitingRoomApi } from './waiting-room.api.ts';

/** Where the relays of this context deliver to. */
export class WaitingRoomDestinations {
  constructor(readonly all: readonly Destination[]) {}
}

/** The way to the queue service. */
@Module({
  imports: [CatalogModule, PurchaseModule],
  providers: [
    {
      provide: WaitingRoomApi,
      useFactory: (config: MonolithConfig, dataSource: DataSource) =>
        new HttpWaitingRoom(publicUrls(config).queueInternalUrl, config.INTERNAL_AUTH_SECRET, dataSource),
      inject: [CONFIG, DataSource],
    },
    {
      provide: WaitingRoomDestinations,
      useFactory: (waitingRoom: WaitingRoomApi, catalog: CatalogApi, purchase: PurchaseApi) =>
        new WaitingRoomDestinations([new WaitingRoomDestination(waitingRoom, catalog, purchase)]),
      inject: [WaitingRoomApi, CatalogApi, PurchaseApi],
    },
    QueueKeeper,
  ],
  exports: [WaitingRoomApi, WaitingRoomDestinations],
})
export class WaitingRoomModule {}
