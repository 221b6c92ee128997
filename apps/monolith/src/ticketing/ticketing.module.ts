import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { Ed25519TicketSigner } from './ed25519-ticket-signer.ts';
import { GateLogApi } from './gate-log.api.ts';
import { GateLog } from './gate-log.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { TicketCodes } from './ticket-codes.ts';
import { TicketingApi } from './ticketing.api.ts';
import { Ticketing } from './ticketing.ts';
import { TicketsController } from './tickets.controller.ts';

/** Tickets and their signed codes. */
@Module({
  imports: [CatalogModule],
  controllers: [TicketsController],
  providers: [
    useCase(PostgresTickets, DataSource),
    {
      provide: TicketCodes,
      useFactory: (config: MonolithConfig) => new TicketCodes(new Ed25519TicketSigner(config.TICKET_SIGNING_KEY)),
      inject: [CONFIG],
    },
    useCase(Ticketing, PostgresTickets, TicketCodes, Ids),
    { provide: TicketingApi, useExisting: Ticketing },
    useCase(GateLog, TransactionManager, PostgresTickets, TicketCodes),
    { provide: GateLogApi, useExisting: GateLog },
  ],
  exports: [TicketingApi, GateLogApi],
})
export class TicketingModule {}
