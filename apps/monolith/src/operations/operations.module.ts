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
import { QuotaApi } from '../quota/quota.api.ts';
import { QuotaModule } from '../quota/quota.module.ts';
import { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { CONFIG } from '../tokens.ts';
import { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';
import { WaitingRoomModule } from '../waiting-room/waiting-room.module.ts';
import { ChangeMatch } from './change-match.ts';
import { WebhookEvents } from '../webhooks/webhook-events.api.ts';
import { WebhooksModule } from '../webhooks/webhooks.module.ts';
import { CheckSale } from './check-sale.ts';
import { CreateMatch } from './create-match.ts';
import { FollowMatch } from './follow-match.ts';
import { OperationsApi } from './operations.api.ts';
import { OperationsController } from './operations.controller.ts';
import { ReadMatchReport } from './read-match-report.ts';
import { SaleWatch } from './sale-watch.schedule.ts';

/** Operators create matches and change matches, sales and queues with this context. It also watches the running sales. */
@Module({
  imports: [CatalogModule, PurchaseModule, QuotaModule, TicketingModule, WaitingRoomModule, WebhooksModule],
  controllers: [OperationsController],
  providers: [
    useCase(CreateMatch, TransactionManager, CatalogApi, PurchaseApi, Outbox, Ids),
    {
      provide: OperationsApi,
      useFactory: (createMatch: CreateMatch): OperationsApi => ({ createMatch: (command) => createMatch.execute(command) }),
      inject: [CreateMatch],
    },
    useCase(ChangeMatch, TransactionManager, CatalogApi, WaitingRoomApi, Jobs, FollowMatch, Clock),
    useCase(FollowMatch, QuotaApi, TicketOffers, WebhookEvents),
    useCase(ReadMatchReport, CatalogApi, PurchaseApi, WaitingRoomApi),
    useCase(CheckSale, TransactionManager, CatalogApi, PurchaseApi, WaitingRoomApi, Outbox, Ids),
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
