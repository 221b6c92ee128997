import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { GateLogApi } from './gate-log.api.ts';
import { GateLog } from './gate-log.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { PostgresTicketOffers } from './postgres-ticket-offers.ts';
import { TicketCodes } from './ticket-codes.ts';
import { TicketOffers } from './ticket-offers.api.ts';
import { TicketingApi } from './ticketing.api.ts';
import { TicketsController } from './tickets.controller.ts';

/** Tickets and their signed codes. */
@Module({
  imports: [CatalogModule],
  controllers: [TicketsController],
  providers: [
    {
      provide: TicketCodes,
      useFactory: (config: MonolithConfig) => new TicketCodes(config.TICKET_SIGNING_KEY),
      inject: [CONFIG],
    },
    PostgresTickets,
    { provide: TicketingApi, useExisting: PostgresTickets },
    { provide: TicketOffers, useClass: PostgresTicketOffers },
    useCase(GateLog, TransactionManager, PostgresTickets, TicketCodes),
    { provide: GateLogApi, useExisting: GateLog },
  ],
  exports: [TicketingApi, TicketOffers, GateLogApi],
})
export class TicketingModule {}
