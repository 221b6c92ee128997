import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, REDIS } from '../tokens.ts';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistController } from './blacklist.controller.ts';
import { BlacklistKeeper } from './blacklist-keeper.schedule.ts';
import { CachedBlacklist } from './cached-blacklist.ts';
import { ChangeBlacklist } from './change-blacklist.ts';
import { PostgresBlacklist } from './postgres-blacklist.ts';
import { RedisBlacklist } from './redis-blacklist.ts';

/** The blacklist: the fans who may not buy. Contains the operators' entries and their copies for fast reads. */
@Module({
  controllers: [BlacklistController],
  providers: [
    useCase(PostgresBlacklist, DataSource),
    {
      provide: CachedBlacklist,
      useFactory: (store: PostgresBlacklist, redis: RedisConnection, logger: Logger) =>
        new CachedBlacklist(store, new RedisBlacklist(redis), logger),
      inject: [PostgresBlacklist, REDIS, LOGGER],
    },
    { provide: BlacklistApi, useExisting: CachedBlacklist },
    useCase(ChangeBlacklist, TransactionManager, PostgresBlacklist, CachedBlacklist, Ids),
    BlacklistKeeper,
  ],
  exports: [BlacklistApi],
})
export class BlacklistModule {}
