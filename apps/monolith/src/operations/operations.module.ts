import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { Leadership } from '#platform/postgres/leadership';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { CONFIG } from '../tokens.ts';
import { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';
import { WaitingRoomModule } from '../waiting-room/waiting-room.module.ts';
import { CreateMatch } from './application/create-match.ts';
import { FollowSale } from './application/follow-sale.ts';
import { MatchReport } from './application/match-report.ts';
import { Catalog, MatchNumbers, Queues, Seats } from './application/ports.ts';
import { SettleSale } from './application/settle-sale.ts';
import { SteerMatch } from './application/steer-match.ts';
import { TellWhatIsLeft } from './application/tell-what-is-left.ts';
import { OperationsController } from './inbound/operations.controller.ts';
import { SaleWatch } from './inbound/sale-watch.schedule.ts';
import { NeighbourNumbers, SteeredCatalog, SteeredQueues, SteeredSeats } from './outbound/neighbours.ts';
import { OperationsApi } from './operations.api.ts';

/** The operators' desk: matches, sales and queues are steered from here. */
@Module({
  imports: [CatalogModule, PurchaseModule, WaitingRoomModule],
  controllers: [OperationsController],
  providers: [
    { provide: Catalog, useFactory: (catalog: CatalogApi) => new SteeredCatalog(catalog), inject: [CatalogApi] },
    { provide: Seats, useFactory: (purchase: PurchaseApi) => new SteeredSeats(purchase), inject: [PurchaseApi] },
    { provide: Queues, useFactory: (waitingRoom: WaitingRoomApi) => new SteeredQueues(waitingRoom), inject: [WaitingRoomApi] },
    {
      provide: MatchNumbers,
      useFactory: (purchase: PurchaseApi, waitingRoom: WaitingRoomApi) => new NeighbourNumbers(purchase, waitingRoom),
      inject: [PurchaseApi, WaitingRoomApi],
    },
    useCase(CreateMatch, TransactionManager, Catalog, Seats, Outbox, Ids),
    {
      provide: OperationsApi,
      useFactory: (createMatch: CreateMatch): OperationsApi => ({
        createMatch: async (command) => {
          const { match, sectors } = await createMatch.execute(command);
          return { matchId: match.id, sectors };
        },
      }),
      inject: [CreateMatch],
    },
    useCase(SteerMatch, TransactionManager, Catalog, Queues, Jobs, Clock),
    useCase(MatchReport, Catalog, MatchNumbers),
    useCase(SettleSale, TransactionManager, Catalog, Seats, Queues, Outbox, Ids),
    useCase(TellWhatIsLeft, Catalog, Queues, Seats),
    useCase(FollowSale, Seats, SettleSale, TellWhatIsLeft),
    {
      provide: Leadership,
      useFactory: (config: MonolithConfig) => new Leadership(config.DATABASE_URL, 'sale watch'),
      inject: [CONFIG],
    },
    SaleWatch,
  ],
  exports: [OperationsApi],
})
export class OperationsModule {}
