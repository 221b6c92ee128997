import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { MatchSearch } from './match-search.ts';

/** The contract allows 5 s from a write of a match to its words, also while Redis or the workers of the jobs are down. */
const CHECK_INTERVAL_MS = 4000;

/** Indexes the matches that no job has indexed, for example those from before the search existed. */
@Injectable()
export class MatchSearchSchedule {
  constructor(search: MatchSearch, tasks: PeriodicTasks) {
    tasks.add(
      { name: 'match search', everyMs: CHECK_INTERVAL_MS, does: 'Indexes matches whose words in the search are missing or old.' },
      () => search.indexOutdated(),
    );
  }
}
