import { Metrics } from '#platform/health/metrics';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from '../../catalog/catalog.api.ts';
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
  adapter(MatchesForSale, CatalogMatches, CatalogApi),
  useCase(PostgresSeatInventory, DataSource),
  useCase(PostgresAvailability, DataSource, CONFIG),
  adapter(SeatViews, SharedSeatViews, PostgresAvailability, PostgresSeatInventory, Metrics, ReplicaReads),
  AvailabilityStreams,
];
