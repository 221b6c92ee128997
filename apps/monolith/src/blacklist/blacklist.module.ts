import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, REDIS } from '../tokens.ts';
import { TakeFanOffBlacklist } from './application/take-fan-off-blacklist.ts';
import { PutFanOnBlacklist } from './application/put-fan-on-blacklist.ts';
import { Blacklist, BlacklistCopies } from './application/ports.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistKeeper } from './inbound/blacklist-keeper.schedule.ts';
import { BlacklistController } from './inbound/blacklist.controller.ts';
import { CachedBlacklist } from './outbound/cached-blacklist.ts';
import { PostgresBlacklist } from './outbound/postgres-blacklist.ts';
import { RedisBlacklist } from './outbound/redis-blacklist.ts';

/** The blacklist: the fans who may not buy. Contains the operators' entries and their copies for fast reads. */
@Module({
  controllers: [BlacklistController],
  providers: [
    {
      provide: PostgresBlacklist,
      useFactory: (dataSource: DataSource) => new PostgresBlacklist(dataSource),
      inject: [DataSource],
    },
    {
      provide: CachedBlacklist,
      useFactory: (store: PostgresBlacklist, redis: RedisConnection, logger: Logger) =>
        new CachedBlacklist(store, new RedisBlacklist(redis), logger),
      inject: [PostgresBlacklist, REDIS, LOGGER],
    },
    { provide: Blacklist, useExisting: PostgresBlacklist },
    { provide: BlacklistApi, useExisting: CachedBlacklist },
    { provide: BlacklistCopies, useExisting: CachedBlacklist },
    useCase(PutFanOnBlacklist, TransactionManager, Blacklist, BlacklistCopies, Ids),
    useCase(TakeFanOffBlacklist, TransactionManager, Blacklist, BlacklistCopies),
    BlacklistKeeper,
  ],
  exports: [BlacklistApi],
})
export class BlacklistModule {}
