import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { readPublicKey } from '#ticketing/ticket-keys';
import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { GateLogApi } from './gate-log.api.ts';
import { GateLog } from './gate-log.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { NoTicketCodes, TicketCodeReader, TicketCodes } from './ticket-codes.ts';
import { TicketingApi } from './ticketing.api.ts';
import { TicketsController } from './tickets.controller.ts';

/** Tickets and their signed codes. */
@Module({
  imports: [CatalogModule],
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
    { provide: TicketingApi, useExisting: PostgresTickets },
    useCase(GateLog, TransactionManager, PostgresTickets, TicketCodeReader),
    { provide: GateLogApi, useExisting: GateLog },
  ],
  exports: [TicketingApi, GateLogApi],
})
export class TicketingModule {}
