import { matchVector } from '#domain/catalog/match-words';
import { runReadCommitted, type ReadCommittedTransaction } from '#platform/postgres/read-committed';
import type { DataSource } from 'typeorm';
import { MatchSearchApi, type MatchSearchRebuild, type RebuildOptions } from './catalog.api.ts';

/** How many matches one transaction indexes. It locks their rows, for a few milliseconds. */
const BATCH = 500;

/** The text that the words of a match are made from. */
const SOURCE = `concat_ws(E'\\n', m.home, m.away, m.venue)`;

/** Locks the matches against changes, so that the words are those of the latest commit when they are written. */
const READ_MATCHES = `select m.id, m.home, m.away, m.venue, ${SOURCE} as source
  from matches m where m.id = any($1::uuid[]) order by m.id for share`;

const WRITE_WORDS = `insert into match_search (match_id, source, words)
  select id, source, words::tsvector from unnest($1::uuid[], $2::text[], $3::text[]) as indexed (id, source, words)
  on conflict (match_id) do update set source = excluded.source, words = excluded.words`;

const OUTDATED = `select m.id from matches m left join match_search s on s.match_id = m.id
  where s.source is distinct from ${SOURCE} order by m.id limit ${BATCH}`;

/** Sends a statement in a transaction and returns its rows. */
type Rows = <T>(sql: string, parameters: readonly unknown[]) => Promise<T[]>;

interface IndexedMatch {
  readonly id: string;
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly source: string;
}

/** The search index of the matches, in the table `match_search`. */
export class MatchSearch extends MatchSearchApi {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  /** Writes the words of these matches. A match that does not exist is ignored. */
  async index(rows: Rows, matchIds: readonly string[]): Promise<void> {
    const matches = await rows<IndexedMatch>(READ_MATCHES, [matchIds]);
    if (matches.length === 0) return;
    await rows(WRITE_WORDS, [matches.map(({ id }) => id), matches.map(({ source }) => source), matches.map(matchVector)]);
  }

  /** Indexes a batch of matches whose row is missing or old. Returns how many it found. */
  async indexOutdated(): Promise<number> {
    const outdated = await this.dataSource.query<{ id: string }[]>(OUTDATED);
    const ids = outdated.map(({ id }) => id);
    if (ids.length > 0) await runReadCommitted(this.dataSource, (tx) => this.index(rowsOf(tx), ids));
    return ids.length;
  }

  async rebuild({ restart, onProgress, stop }: RebuildOptions): Promise<MatchSearchRebuild> {
    if (restart) await this.dataSource.query('delete from match_search_rebuild');
    await this.dataSource.query('insert into match_search_rebuild default values on conflict do nothing');
    const [begun] = await this.dataSource.query<{ id: string; startedAt: Date; done: number }[]>(
      'select id, started_at as "startedAt", done from match_search_rebuild',
    );
    // Another process has just finished the rebuild that this one would have continued.
    if (!begun) return { isComplete: true, continuedFrom: null, indexed: 0 };
    const continuedFrom = begun.done > 0 ? { startedAt: begun.startedAt, done: begun.done } : null;
    let indexed = 0;
    while (!stop.aborted) {
      const batch = await this.rebuildBatch(begun.id);
      if (!batch) return { isComplete: true, continuedFrom, indexed };
      indexed += batch.indexed;
      onProgress(batch.done, batch.total);
    }
    return { isComplete: false, continuedFrom, indexed };
  }

  /** Indexes the next matches of a rebuild. Returns undefined once it is finished, by this or another process. */
  private rebuildBatch(id: string): Promise<{ indexed: number; done: number; total: number } | undefined> {
    return runReadCommitted(this.dataSource, async (tx) => {
      const rows = rowsOf(tx);
      // The lock makes processes that rebuild at the same time take turns, one batch each.
      const [rebuild] = await rows<{ last: string | null; done: number; total: number }>(
        `select last_match_id as last, done, (select count(*)::int from matches) as total
         from match_search_rebuild where id = $1 for update`,
        [id],
      );
      if (!rebuild) return undefined;
      const next = await rows<{ id: string }>(
        `select id from matches where $1::uuid is null or id > $1 order by id limit ${BATCH}`,
        [rebuild.last],
      );
      const ids = next.map((match) => match.id);
      if (ids.length === 0) {
        await rows('delete from match_search_rebuild where id = $1', [id]);
        return undefined;
      }
      await this.index(rows, ids);
      const done = rebuild.done + ids.length;
      await rows('update match_search_rebuild set last_match_id = $2, done = $3 where id = $1', [id, ids.at(-1), done]);
      return { indexed: ids.length, done, total: Math.max(done, rebuild.total) };
    });
  }
}

function rowsOf(tx: ReadCommittedTransaction): Rows {
  return async <T>(sql: string, parameters: readonly unknown[]) => (await tx.query<T>(sql, parameters)).rows;
}
