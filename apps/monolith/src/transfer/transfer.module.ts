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
import { Blacklist, FanLimits, Tickets } from './application/ports.ts';
import { TransferTicket } from './application/transfer-ticket.ts';
import { TransfersController } from './inbound/transfers.controller.ts';
import { DelegatingBlacklist, DelegatingLimits, DelegatingTickets } from './outbound/other-contexts.ts';

/**
 * Transfers of tickets between fans. Transfers are a context of their own, because they need both purchase (the limits) and
 * ticketing.
 */
@Module({
  imports: [BlacklistModule, CatalogModule, PurchaseModule, TicketingModule],
  controllers: [TransfersController],
  providers: [
    { provide: Tickets, useFactory: (ticketing: TicketingApi) => new DelegatingTickets(ticketing), inject: [TicketingApi] },
    {
      provide: FanLimits,
      useFactory: (catalog: CatalogApi, purchase: PurchaseApi) => new DelegatingLimits(catalog, purchase),
      inject: [CatalogApi, PurchaseApi],
    },
    { provide: Blacklist, useFactory: (blacklist: BlacklistApi) => new DelegatingBlacklist(blacklist), inject: [BlacklistApi] },
    useCase(TransferTicket, TransactionManager, Tickets, FanLimits, Blacklist),
  ],
})
export class TransferModule {}
