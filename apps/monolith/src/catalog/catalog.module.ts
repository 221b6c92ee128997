import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi } from './catalog.api.ts';
import { MatchesController } from './matches.controller.ts';
import { PostgresCatalog } from './postgres-catalog.ts';

/** Matches, their sectors and prices, and the state of each sale. */
@Module({
  controllers: [MatchesController],
  providers: [
    { provide: CatalogApi, useFactory: (dataSource: DataSource) => new PostgresCatalog(dataSource), inject: [DataSource] },
  ],
  exports: [CatalogApi],
})
export class CatalogModule {}
