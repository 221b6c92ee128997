import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import type { JobKind } from '#platform/jobs/job-runner';
import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import { connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { BlacklistApi } from '../blacklist/blacklist.api.ts';
import { BlacklistModule } from '../blacklist/blacklist.module.ts';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { CatalogModule } from '../catalog/catalog.module.ts';
import type { MonolithConfig } from '../config.ts';
import { FansApi } from '../fans/fans.api.ts';
import { FansModule } from '../fans/fans.module.ts';
import { PaymentApi } from '../payment/payment.api.ts';
import { PaymentModule } from '../payment/payment.module.ts';
import { TicketingApi } from '../ticketing/ticketing.api.ts';
import { TicketingModule } from '../ticketing/ticketing.module.ts';
import { CONFIG, LOGGER, REDIS, TRANSACTION_RETRIES, type TransactionRetries } from '../tokens.ts';
import { SeatViews } from './application/availability-reader.ts';
import { BlockSoldElsewhere } from './application/elsewhere/block-sold-elsewhere.ts';
import { SeatHints, SeatsElsewhere } from './application/elsewhere/ports.ts';
import { CheckOut } from './application/check-out.ts';
import { ExpireReservations } from './application/expire-reservations.ts';
import { FollowWaitingRoom } from './application/follow-waiting-room.ts';
import { HoldSeats } from './application/hold-seats.ts';
import {
  Blacklist,
  MatchesForSale,
  OrderConsequences,
  Orders,
  PaymentInbox,
  Payments,
  Reservations,
  SeatHolds,
  SeatInventory,
} from './application/ports.ts';
import { PurchaseReader } from './application/purchase-reader.ts';
import { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from './application/waiting-room-ports.ts';
import { RefundConsequences, Refunds, SeatsFreed } from './application/refund-ports.ts';
import { RefundMatchOrders } from './application/refund-match.ts';
import { RefundTickets } from './application/refund-tickets.ts';
import { ReleaseReservation } from './application/release-reservation.ts';
import { SettlePayment } from './application/settle-payment.ts';
import { AvailabilityController } from './inbound/availability.controller.ts';
import { AvailabilityStreams } from './inbound/availability-streams.ts';
import { HoldNews } from './inbound/hold-news.ts';
import { OpsOrdersController } from './inbound/ops-orders.controller.ts';
import { OrdersController } from './inbound/orders.controller.ts';
import { PaymentWebhookController } from './inbound/payment-webhook.controller.ts';
import { PurchaseJobs } from './inbound/purchase-jobs.ts';
import { LoadedPartnerSales } from './inbound/loaded-partner-sales.ts';
import { LoadedPayments } from './inbound/loaded-payments.ts';
import { QueueEventsListener } from './inbound/queue-events.listener.ts';
import { ReservationExpirySchedule } from './inbound/reservation-expiry.schedule.ts';
import { ReservationsController } from './inbound/reservations.controller.ts';
import { SectorsController } from './inbound/sectors.controller.ts';
import { BatchedSeatHolds } from './outbound/batched-seat-holds.ts';
import { CatalogMatches } from './outbound/catalog-matches.ts';
import { HOLD_PLANNING } from './outbound/hold-statement.ts';
import { LaneConnection } from './outbound/lane-connection.ts';
import { RecordedOrderConsequences } from './outbound/order-consequences.ts';
import { OrderMessenger } from './outbound/order-messenger.ts';
import { PostgresOrders } from './outbound/postgres-orders.ts';
import { PostgresPaymentInbox } from './outbound/postgres-payment-inbox.ts';
import { PostgresPurchaseReader } from './outbound/postgres-purchase-reader.ts';
import { PostgresPurchaseWindows } from './outbound/postgres-purchase-windows.ts';
import { PostgresStoredTurns } from './outbound/postgres-stored-turns.ts';
import { PostgresStreamCursors } from './outbound/postgres-stream-cursors.ts';
import { PostgresRefunds } from './outbound/postgres-refunds.ts';
import { PostgresReservations } from './outbound/postgres-reservations.ts';
import { SeatMaps } from './outbound/seat-maps.ts';
import { PostgresSeatLooks } from './outbound/postgres-seat-looks.ts';
import { SeatNews } from './outbound/seat-news.ts';
import { PostgresSeatInventory } from './outbound/postgres-seat-inventory.ts';
import { PostgresSeatsElsewhere } from './outbound/postgres-seats-elsewhere.ts';
import { PreparedSeatHolds } from './outbound/prepared-seat-holds.ts';
import { PurchaseDesk } from './outbound/purchase-desk.ts';
import { RedisSeatHints } from './outbound/redis-seat-hints.ts';
import { SharedSeatViews } from './outbound/shared-seat-views.ts';
import { RecordedRefundConsequences } from './outbound/refund-consequences.ts';
import { RecordedWaitingRoomConsequences } from './outbound/waiting-room-consequences.ts';
import { GrantedTurns } from './outbound/redis-granted-turns.ts';
import { RedisWaitingRoomEvents } from './outbound/redis-waiting-room-events.ts';
import { PartnerSalesDesk } from './partner-sales.api.ts';
import { PaymentNewsDesk } from './payment-news.api.ts';
import { PurchaseApi } from './purchase.api.ts';
import { StoredTurns } from './stored-turns.api.ts';

/** One commits while the other chooses; more only make each other's batches smaller (bench/experiments.md). */
const HOLD_LANES = 2;

/** What this context does in the background. */
export abstract class PurchaseJobKinds {
  abstract readonly kinds: readonly JobKind[];
}

/** Holds, orders and payments: from a free seat to a sold one. */
@Module({
  imports: [BlacklistModule, CatalogModule, FansModule, PaymentModule, TicketingModule],
  controllers: [
    ReservationsController,
    OrdersController,
    OpsOrdersController,
    SectorsController,
    AvailabilityController,
    PaymentWebhookController,
  ],
  providers: [
    { provide: MatchesForSale, useFactory: (catalog: CatalogApi) => new CatalogMatches(catalog), inject: [CatalogApi] },
    {
      provide: SeatInventory,
      useFactory: (dataSource: DataSource) => new PostgresSeatInventory(dataSource),
      inject: [DataSource],
    },
    {
      provide: PostgresSeatLooks,
      useFactory: (dataSource: DataSource, config: MonolithConfig) =>
        new PostgresSeatLooks(dataSource, config.QUEUE_IDLE_TURN_SECONDS),
      inject: [DataSource, CONFIG],
    },
    {
      provide: SeatViews,
      useFactory: (seatLooks: PostgresSeatLooks, inventory: SeatInventory, metrics: Metrics) => {
        const looks = new Counter({
          name: 'availability_looks_total',
          help: 'Queries for what is free: of a match by sector, or the seats of a sector.',
          labelNames: ['at'],
          registers: [metrics.registry],
        });
        return new SharedSeatViews(seatLooks, inventory, (at) => looks.inc({ at }));
      },
      inject: [PostgresSeatLooks, SeatInventory, Metrics],
    },
    AvailabilityStreams,
    {
      provide: PostgresPurchaseWindows,
      useFactory: (dataSource: DataSource, redis: RedisConnection) =>
        new PostgresPurchaseWindows(dataSource, new GrantedTurns(redis)),
      inject: [DataSource, REDIS],
    },
    {
      provide: SeatNews,
      useFactory: (redis: RedisConnection, config: MonolithConfig) =>
        new SeatNews(redis, connectRedis(config.REDIS_URL, { name: 'seat-news', forJobs: true })),
      inject: [REDIS, CONFIG],
    },
    { provide: SeatsFreed, useExisting: SeatNews },
    {
      provide: SeatHolds,
      useFactory: (
        dataSource: DataSource,
        windows: PostgresPurchaseWindows,
        config: MonolithConfig,
        retries: TransactionRetries,
        news: SeatNews,
        matches: MatchesForSale,
      ) => {
        const onRetry = (sqlstate: string): void => retries.inc({ sqlstate });
        const lanes = Array.from(
          { length: HOLD_LANES },
          () => new LaneConnection({ url: config.DATABASE_URL, name: 'holds', planning: HOLD_PLANNING, onRetry }),
        );
        const maps = new SeatMaps(dataSource);
        news.listen(maps);
        news.follow();
        const holds = new BatchedSeatHolds(lanes, maps, windows, config.RESERVATION_HOLD_SECONDS, news);
        return new PreparedSeatHolds(holds, maps, matches, news);
      },
      inject: [DataSource, PostgresPurchaseWindows, CONFIG, TRANSACTION_RETRIES, SeatNews, MatchesForSale],
    },
    {
      provide: Reservations,
      useFactory: (dataSource: DataSource) => new PostgresReservations(dataSource),
      inject: [DataSource],
    },
    {
      provide: PurchaseReader,
      useFactory: (dataSource: DataSource) => new PostgresPurchaseReader(dataSource),
      inject: [DataSource],
    },
    { provide: Orders, useFactory: (blacklist: BlacklistApi) => new PostgresOrders(blacklist), inject: [BlacklistApi] },
    { provide: Blacklist, useExisting: BlacklistApi },
    { provide: PaymentInbox, useClass: PostgresPaymentInbox },
    { provide: Payments, useExisting: PaymentApi },
    useCase(OrderMessenger, FansApi, MatchesForSale, Outbox, Ids, Clock),
    {
      provide: OrderConsequences,
      useFactory: (ticketing: TicketingApi, windows: PostgresPurchaseWindows, messenger: OrderMessenger) =>
        new RecordedOrderConsequences(ticketing, windows, messenger),
      inject: [TicketingApi, PostgresPurchaseWindows, OrderMessenger],
    },
    {
      provide: RefundConsequences,
      useFactory: (ticketing: TicketingApi, messenger: OrderMessenger) => new RecordedRefundConsequences(ticketing, messenger),
      inject: [TicketingApi, OrderMessenger],
    },
    { provide: Refunds, useFactory: (dataSource: DataSource) => new PostgresRefunds(dataSource), inject: [DataSource] },
    {
      provide: WaitingRoomEvents,
      useFactory: (redis: RedisConnection, logger: Logger) => new RedisWaitingRoomEvents(redis, logger),
      inject: [REDIS, LOGGER],
    },
    {
      provide: StreamCursors,
      useFactory: (dataSource: DataSource) => new PostgresStreamCursors(dataSource),
      inject: [DataSource],
    },
    {
      provide: WaitingRoomConsequences,
      useFactory: (windows: PostgresPurchaseWindows, fans: FansApi, outbox: Outbox, ids: Ids, clock: Clock) =>
        new RecordedWaitingRoomConsequences(windows, fans, outbox, ids, clock),
      inject: [PostgresPurchaseWindows, FansApi, Outbox, Ids, Clock],
    },
    useCase(HoldSeats, MatchesForSale, SeatInventory, SeatHolds, Blacklist),
    {
      provide: HoldNews,
      useFactory: (metrics: Metrics, views: SeatViews, seatsFreed: SeatsFreed) =>
        new HoldNews(metrics.registry, views, seatsFreed),
      inject: [Metrics, SeatViews, SeatsFreed],
    },
    useCase(CheckOut, TransactionManager, Reservations, Orders, Payments, OrderConsequences, Ids),
    useCase(ReleaseReservation, TransactionManager, Reservations, Orders, OrderConsequences),
    useCase(SettlePayment, TransactionManager, PaymentInbox, Orders, Reservations, MatchesForSale, OrderConsequences),
    useCase(RefundTickets, TransactionManager, Refunds, Reservations, Orders, RefundConsequences),
    useCase(RefundMatchOrders, Refunds, RefundTickets, Jobs),
    useCase(PurchaseJobs, RefundMatchOrders),
    { provide: PurchaseJobKinds, useFactory: ({ kinds }: PurchaseJobs) => ({ kinds }), inject: [PurchaseJobs] },
    useCase(ExpireReservations, Reservations),
    useCase(FollowWaitingRoom, TransactionManager, WaitingRoomEvents, StreamCursors, WaitingRoomConsequences),
    {
      provide: PurchaseApi,
      useFactory: (inventory: SeatInventory, views: SeatViews, seatLooks: PostgresSeatLooks, reader: PurchaseReader) =>
        new PurchaseDesk(inventory, views, seatLooks, reader),
      inject: [SeatInventory, SeatViews, PostgresSeatLooks, PurchaseReader],
    },
    {
      provide: PaymentNewsDesk,
      useFactory: (payments: PaymentApi, settle: SettlePayment, logger: Logger) => new LoadedPayments(payments, settle, logger),
      inject: [PaymentApi, SettlePayment, LOGGER],
    },
    { provide: SeatsElsewhere, useClass: PostgresSeatsElsewhere },
    { provide: SeatHints, useFactory: (redis: RedisConnection) => new RedisSeatHints(redis), inject: [REDIS] },
    useCase(BlockSoldElsewhere, TransactionManager, SeatsElsewhere, SeatHints),
    {
      provide: PartnerSalesDesk,
      useFactory: (blockSoldElsewhere: BlockSoldElsewhere) => new LoadedPartnerSales(blockSoldElsewhere),
      inject: [BlockSoldElsewhere],
    },
    { provide: StoredTurns, useFactory: (dataSource: DataSource) => new PostgresStoredTurns(dataSource), inject: [DataSource] },
    QueueEventsListener,
    ReservationExpirySchedule,
  ],
  exports: [PurchaseApi, StoredTurns, PaymentNewsDesk, PartnerSalesDesk, PurchaseJobKinds],
})
export class PurchaseModule {}
