import type { JobKind } from '#messaging/jobs/job-runner';
import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi, MatchSearchApi } from './catalog.api.ts';
import { indexMatchJob } from './index-match.ts';
import { MatchSearch } from './match-search.ts';
import { MatchSearchSchedule } from './match-search.schedule.ts';
import { MatchesController } from './matches.controller.ts';
import { PostgresCatalog } from './postgres-catalog.ts';

/** The kinds of background jobs that the catalog context provides to the job consumer. */
export class CatalogJobKinds {
  constructor(readonly kinds: readonly JobKind[]) {}
}

/** Matches, their sectors and prices, the state of each sale, and the search of matches. */
@Module({
  controllers: [MatchesController],
  providers: [
    { provide: CatalogApi, useClass: PostgresCatalog },
    useCase(MatchSearch, DataSource),
    { provide: MatchSearchApi, useExisting: MatchSearch },
    MatchSearchSchedule,
    {
      provide: CatalogJobKinds,
      useFactory: (search: MatchSearch) => new CatalogJobKinds([indexMatchJob(search)]),
      inject: [MatchSearch],
    },
  ],
  exports: [CatalogApi, CatalogJobKinds, MatchSearchApi],
})
export class CatalogModule {}
