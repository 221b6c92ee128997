import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { Matches, ScannedTickets, Tickets, TicketSigner } from './application/ports.ts';
import { RecordScan } from './application/record-scan.ts';
import { TicketCodes } from './application/ticket-codes.ts';
import { Ticketing } from './application/ticketing.ts';
import { GateLogApi } from './gate-log.api.ts';
import { LoadedGateScans } from './inbound/loaded-gate-scans.ts';
import { TicketsController } from './inbound/tickets.controller.ts';
import { CatalogPrintedMatches } from './outbound/catalog-printed-matches.ts';
import { Ed25519TicketSigner } from './outbound/ed25519-ticket-signer.ts';
import { PostgresScannedTickets } from './outbound/postgres-scanned-tickets.ts';
import { PostgresTickets } from './outbound/postgres-tickets.ts';
import { TicketingApi } from './ticketing.api.ts';

/** Tickets and their signed codes. */
@Module({
  imports: [CatalogModule],
  controllers: [TicketsController],
  providers: [
    { provide: Tickets, useFactory: (dataSource: DataSource) => new PostgresTickets(dataSource), inject: [DataSource] },
    { provide: Matches, useFactory: (catalog: CatalogApi) => new CatalogPrintedMatches(catalog), inject: [CatalogApi] },
    {
      provide: TicketSigner,
      useFactory: (config: MonolithConfig) => new Ed25519TicketSigner(config.TICKET_SIGNING_KEY),
      inject: [CONFIG],
    },
    useCase(TicketCodes, TicketSigner),
    useCase(Ticketing, Tickets, TicketCodes, Ids),
    { provide: TicketingApi, useExisting: Ticketing },
    { provide: ScannedTickets, useClass: PostgresScannedTickets },
    useCase(RecordScan, TransactionManager, ScannedTickets, TicketCodes),
    { provide: GateLogApi, useFactory: (recordScan: RecordScan) => new LoadedGateScans(recordScan), inject: [RecordScan] },
  ],
  exports: [TicketingApi, GateLogApi],
})
export class TicketingModule {}
