import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { BlacklistApi } from '../blacklist/blacklist.api.ts';
import { BlacklistModule } from '../blacklist/blacklist.module.ts';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { PurchaseModule } from '../purchase/purchase.module.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { TransferTicket } from './transfer-ticket.ts';
import { TransfersController } from './transfers.controller.ts';

/**
 * Transfers of tickets between fans. Transfers are a context of their own, because they need both purchase (the limits) and
 * ticketing.
 */
@Module({
  imports: [BlacklistModule, CatalogModule, PurchaseModule, TicketingModule],
  controllers: [TransfersController],
  providers: [useCase(TransferTicket, TransactionManager, TicketingApi, CatalogApi, PurchaseApi, BlacklistApi)],
})
export class TransferModule {}
