import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { MatchSearch } from './match-search.ts';

/** Indexes the matches that no job has indexed: those from before the search existed, and those whose job has failed. */
@Injectable()
export class MatchSearchSchedule {
  constructor(search: MatchSearch, tasks: PeriodicTasks) {
    tasks.add(
      { name: 'match search', everyMs: 60_000, does: 'Indexes matches whose words in the search are missing or old.' },
      () => search.indexOutdated(),
    );
  }
}
