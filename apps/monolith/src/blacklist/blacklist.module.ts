import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlacklistApi } from './blacklist.api.ts';
import { BlacklistController } from './blacklist.controller.ts';
import { BlacklistKeeper } from './blacklist-keeper.schedule.ts';
import { CachedBlacklist } from './cached-blacklist.ts';
import { ChangeBlacklist } from './change-blacklist.ts';
import { FansModule } from '../fans/fans.module.ts';
import { KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import { KeptBlacklist } from './kept-blacklist.ts';
import { PostgresBlacklist } from './postgres-blacklist.ts';

/** The blacklist: the fans who may not buy. Contains the operators' entries and their copies for fast reads. */
@Module({
  imports: [FansModule],
  controllers: [BlacklistController],
  providers: [
    useCase(PostgresBlacklist, DataSource),
    CachedBlacklist,
    { provide: BlacklistApi, useExisting: CachedBlacklist },
    useCase(ChangeBlacklist, TransactionManager, PostgresBlacklist, CachedBlacklist, Ids),
    useCase(KeptBlacklist, KeptAboutFans, PostgresBlacklist),
    BlacklistKeeper,
  ],
  exports: [BlacklistApi],
})
export class BlacklistModule {}
