import { cooldownRules } from '#domain/purchase/hold-cooldown';
import { Metrics } from '#platform/health/metrics';
import { connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { adapter, useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG, REDIS, TRANSACTION_RETRIES, type TransactionRetries } from '../../tokens.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { SeatViews } from '../availability/application/availability-reader.ts';
import { PostgresSeatInventory } from '../availability/outbound/postgres-seat-inventory.ts';
import { PostgresPurchaseWindows } from '../turns/outbound/postgres-purchase-windows.ts';
import { ExpireReservations } from './application/expire-reservations.ts';
import { HoldSeats } from './application/hold-seats.ts';
import { SeatHolds } from './application/ports.ts';
import { Reservations } from './application/reservation-ports.ts';
import { ReservationReader } from './application/reservation-reader.ts';
import { HoldObserver } from './inbound/hold-observer.ts';
import { ReservationExpirySchedule } from './inbound/reservation-expiry.schedule.ts';
import { ReservationsController } from './inbound/reservations.controller.ts';
import { WriterConnection } from './outbound/writer-connection.ts';
import { HOLD_SETTINGS } from './outbound/hold-batch.sql.ts';
import { HoldQueue } from './outbound/hold-queue.ts';
import { PostgresReservationReader } from './outbound/postgres-reservation-reader.ts';
import { PostgresReservations } from './outbound/postgres-reservations.ts';
import { seatChangesFor, sectorSnapshots } from './outbound/load-snapshots.ts';
import { SeatChangeBroadcast } from './outbound/seat-change-broadcast.ts';
import { SECTOR_SNAPSHOTS, type SectorSnapshots } from './outbound/sector-snapshot.ts';

/**
 * One writer connection commits a batch while the next batch is prepared for the other. More connections would make the batches
 * smaller (bench/experiments.md).
 */
const WRITER_CONNECTIONS = 2;

export const holdControllers = [ReservationsController];

/** Wires the feature `hold`: seats are held for fans, and expired holds are ended. */
export const holdProviders: Provider[] = [
  {
    provide: SeatChangeBroadcast,
    useFactory: (redis: RedisConnection, config: MonolithConfig) =>
      new SeatChangeBroadcast(redis, connectRedis(config.REDIS_URL, { name: 'seat-changes', forJobs: true })),
    inject: [REDIS, CONFIG],
  },
  { provide: SECTOR_SNAPSHOTS, useFactory: sectorSnapshots, inject: [DataSource] },
  {
    provide: SeatHolds,
    useFactory: (
      snapshots: SectorSnapshots,
      turns: PostgresPurchaseWindows,
      config: MonolithConfig,
      retries: TransactionRetries,
      changes: SeatChangeBroadcast,
      matches: MatchesForSale,
    ) => {
      const onRetry = (sqlstate: string): void => retries.inc({ sqlstate });
      const options = { url: config.DATABASE_URL, name: 'holds', settings: HOLD_SETTINGS, onRetry };
      const connections = Array.from({ length: WRITER_CONNECTIONS }, () => new WriterConnection(options));
      changes.listen(seatChangesFor(snapshots));
      changes.subscribe();
      const holdSeconds = config.RESERVATION_HOLD_SECONDS;
      const { HOLD_COOLDOWN_AFTER: after, HOLD_COOLDOWN_SECONDS: cooldownSeconds } = config;
      const cooldown = cooldownRules({ after, cooldownSeconds, holdSeconds });
      return new HoldQueue({ connections, holdSeconds, cooldown, snapshots, turns, matches, changes });
    },
    inject: [SECTOR_SNAPSHOTS, PostgresPurchaseWindows, CONFIG, TRANSACTION_RETRIES, SeatChangeBroadcast, MatchesForSale],
  },
  adapter(Reservations, PostgresReservations, DataSource),
  adapter(ReservationReader, PostgresReservationReader, DataSource),
  useCase(HoldSeats, MatchesForSale, PostgresSeatInventory, SeatHolds, BlacklistApi),
  useCase(HoldObserver, Metrics, SeatViews, SeatChangeBroadcast),
  useCase(ExpireReservations, Reservations),
  ReservationExpirySchedule,
];
