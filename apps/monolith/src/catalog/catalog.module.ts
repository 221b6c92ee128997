import { Module } from '@nestjs/common';
import { CatalogApi } from './catalog.api.ts';
import { MatchesController } from './matches.controller.ts';
import { PostgresCatalog } from './postgres-catalog.ts';

/** Matches, their sectors and prices, and the state of each sale. */
@Module({
  controllers: [MatchesController],
  providers: [{ provide: CatalogApi, useClass: PostgresCatalog }],
  exports: [CatalogApi],
})
export class CatalogModule {}
