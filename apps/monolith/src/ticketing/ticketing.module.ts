import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { readPublicKey } from '#ticketing/ticket-keys';
import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { FansModule } from '../fans/fans.module.ts';
import { CONFIG } from '../tokens.ts';
import { EraseTickets } from './erase-tickets.ts';
import { GateLogApi } from './gate-log.api.ts';
import { GateLog } from './gate-log.ts';
import { KeptTickets } from './kept-tickets.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { NoTicketCodes, TicketCodeReader, TicketCodes } from './ticket-codes.ts';
import { PostgresTicketOffers } from './postgres-ticket-offers.ts';
import { TicketOffers } from './ticket-offers.api.ts';
import { TicketingApi } from './ticketing.api.ts';
import { TicketsController } from './tickets.controller.ts';

/** Tickets and their signed codes. */
@Module({
  imports: [CatalogModule, FansModule],
  controllers: [TicketsController],
  providers: [
    {
      provide: TicketCodes,
      useFactory: (config: MonolithConfig) =>
        config.ticketPublicKeys ? new NoTicketCodes(config.TICKET_SIGNING_KEY) : new TicketCodes(config.TICKET_SIGNING_KEY),
      inject: [CONFIG],
    },
    {
      provide: TicketCodeReader,
      useFactory: ({ ticketPublicKeys }: MonolithConfig, codes: TicketCodes) =>
        ticketPublicKeys ? new TicketCodeReader(ticketPublicKeys.map(readPublicKey)) : codes,
      inject: [CONFIG, TicketCodes],
    },
    PostgresTickets,
    KeptTickets,
    EraseTickets,
    { provide: TicketingApi, useExisting: PostgresTickets },
    { provide: TicketOffers, useClass: PostgresTicketOffers },
    useCase(GateLog, TransactionManager, PostgresTickets, TicketCodeReader),
    { provide: GateLogApi, useExisting: GateLog },
  ],
  exports: [TicketingApi, TicketOffers, GateLogApi],
})
export class TicketingModule {}
