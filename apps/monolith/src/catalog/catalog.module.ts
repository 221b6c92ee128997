import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from './catalog.api.ts';
import { MatchesController } from './inbound/matches.controller.ts';
import { PostgresCatalog } from './outbound/postgres-catalog.ts';

/** Matches and sectors: what there is to buy. */
@Module({
  controllers: [MatchesController],
  providers: [
    { provide: CatalogApi, useFactory: (dataSource: DataSource) => new PostgresCatalog(dataSource), inject: [DataSource] },
  ],
  exports: [CatalogApi],
})
export class CatalogModule {}
