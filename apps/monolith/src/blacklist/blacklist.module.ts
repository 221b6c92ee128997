import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, REDIS } from '../tokens.ts';
import { LiftListing } from './application/lift-listing.ts';
import { ListFan } from './application/list-fan.ts';
import { Blacklist, BlacklistBroadcast } from './application/ports.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistKeeper } from './inbound/blacklist-keeper.schedule.ts';
import { BlacklistController } from './inbound/blacklist.controller.ts';
import { KnownBlacklist } from './outbound/known-blacklist.ts';
import { PostgresBlacklist } from './outbound/postgres-blacklist.ts';
import { RedisBlacklist } from './outbound/redis-blacklist.ts';

/** Who may not buy: the operators' list, and everybody who has to know it. */
@Module({
  controllers: [BlacklistController],
  providers: [
    {
      provide: PostgresBlacklist,
      useFactory: (dataSource: DataSource) => new PostgresBlacklist(dataSource),
      inject: [DataSource],
    },
    {
      provide: KnownBlacklist,
      useFactory: (store: PostgresBlacklist, redis: RedisConnection, logger: Logger) =>
        new KnownBlacklist(store, new RedisBlacklist(redis), logger),
      inject: [PostgresBlacklist, REDIS, LOGGER],
    },
    { provide: Blacklist, useExisting: PostgresBlacklist },
    { provide: BlacklistApi, useExisting: KnownBlacklist },
    { provide: BlacklistBroadcast, useExisting: KnownBlacklist },
    useCase(ListFan, TransactionManager, Blacklist, BlacklistBroadcast, Ids),
    useCase(LiftListing, TransactionManager, Blacklist, BlacklistBroadcast),
    BlacklistKeeper,
  ],
  exports: [BlacklistApi],
})
export class BlacklistModule {}
