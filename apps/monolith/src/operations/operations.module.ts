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
import { CheckSale } from './application/check-sale.ts';
import { MatchReport } from './application/match-report.ts';
import { Catalog, MatchNumbers, Queues, Seats } from './application/ports.ts';
import { EndOrReopenSale } from './application/end-or-reopen-sale.ts';
import { ChangeMatch } from './application/change-match.ts';
import { ReportRemainingSeats } from './application/report-remaining-seats.ts';
import { OperationsController } from './inbound/operations.controller.ts';
import { SaleWatch } from './inbound/sale-watch.schedule.ts';
import { DelegatingMatchNumbers, DelegatingCatalog, DelegatingQueues, DelegatingSeats } from './outbound/other-contexts.ts';
import { OperationsApi } from './operations.api.ts';

/** Operators create matches and change matches, sales and queues with this context. It also watches the running sales. */
@Module({
  imports: [CatalogModule, PurchaseModule, WaitingRoomModule],
  controllers: [OperationsController],
  providers: [
    { provide: Catalog, useFactory: (catalog: CatalogApi) => new DelegatingCatalog(catalog), inject: [CatalogApi] },
    { provide: Seats, useFactory: (purchase: PurchaseApi) => new DelegatingSeats(purchase), inject: [PurchaseApi] },
    { provide: Queues, useFactory: (waitingRoom: WaitingRoomApi) => new DelegatingQueues(waitingRoom), inject: [WaitingRoomApi] },
    {
      provide: MatchNumbers,
      useFactory: (purchase: PurchaseApi, waitingRoom: WaitingRoomApi) => new DelegatingMatchNumbers(purchase, waitingRoom),
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
    useCase(ChangeMatch, TransactionManager, Catalog, Queues, Jobs, Clock),
    useCase(MatchReport, Catalog, MatchNumbers),
    useCase(EndOrReopenSale, TransactionManager, Catalog, Seats, Queues, Outbox, Ids),
    useCase(ReportRemainingSeats, Catalog, Queues, Seats),
    useCase(CheckSale, Seats, EndOrReopenSale, ReportRemainingSeats),
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
