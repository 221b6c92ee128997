import { Metrics } from '#platform/health/metrics';
import type { Provider } from '@nestjs/common';
import { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG } from '../../tokens.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { SeatViews } from './application/availability-reader.ts';
import { AvailabilityStreams } from './inbound/availability-streams.ts';
import { AvailabilityController } from './inbound/availability.controller.ts';
import { SectorsController } from './inbound/sectors.controller.ts';
import { CatalogMatches } from './outbound/catalog-matches.ts';
import { PostgresSeatInventory } from './outbound/postgres-seat-inventory.ts';
import { PostgresAvailability } from './outbound/postgres-availability.ts';
import { SharedSeatViews } from './outbound/shared-seat-views.ts';

export const availabilityControllers = [SectorsController, AvailabilityController];

/** Wires the feature `availability`: the matches and sectors for sale and their free seats, which anybody may read. */
export const availabilityProviders: Provider[] = [
  { provide: MatchesForSale, useFactory: (catalog: CatalogApi) => new CatalogMatches(catalog), inject: [CatalogApi] },
  {
    provide: PostgresSeatInventory,
    useFactory: (dataSource: DataSource) => new PostgresSeatInventory(dataSource),
    inject: [DataSource],
  },
  {
    provide: PostgresAvailability,
    useFactory: (dataSource: DataSource, config: MonolithConfig) =>
      new PostgresAvailability(dataSource, config.QUEUE_IDLE_TURN_SECONDS),
    inject: [DataSource, CONFIG],
  },
  {
    provide: SeatViews,
    useFactory: (postgresAvailability: PostgresAvailability, inventory: PostgresSeatInventory, metrics: Metrics) => {
      const reads = new Counter({
        name: 'availability_looks_total',
        help: 'Reads of availability from the database: the counts of a match (sectors), or the seats of a sector (seats).',
        labelNames: ['at'],
        registers: [metrics.registry],
      });
      return new SharedSeatViews(postgresAvailability, inventory, (at) => reads.inc({ at }));
    },
    inject: [PostgresAvailability, PostgresSeatInventory, Metrics],
  },
  AvailabilityStreams,
];
