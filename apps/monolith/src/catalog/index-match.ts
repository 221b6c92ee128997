import { JobHandler } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { JobKind } from '#messaging/jobs/job-runner';
import { inside } from '#platform/postgres/transaction';
import { z } from 'zod';
import type { MatchSearch } from './match-search.ts';

const schema = z.object({ class: z.literal('index_match'), matchId: z.guid() });

/** Background job: writes the words of a match into the search index, after the match was created or renamed. */
export type IndexMatch = z.infer<typeof schema>;

class IndexMatchHandler extends JobHandler<IndexMatch, undefined> {
  readonly class = 'index_match';

  constructor(private readonly search: MatchSearch) {
    super();
  }

  prepare(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async work(tx: Transaction, { matchId }: IndexMatch): Promise<void> {
    const transaction = inside(tx);
    await this.search.index((sql, parameters) => transaction.rows(sql, parameters), [matchId]);
  }
}

export const indexMatchJob = (search: MatchSearch): JobKind => ({ schema, handler: new IndexMatchHandler(search) });
