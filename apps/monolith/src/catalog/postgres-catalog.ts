import type { Freshness } from '#application/freshness';
import { Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import { matchQueryOf } from '#domain/catalog/match-words';
import { statusAt, type SaleStatus } from '#domain/catalog/sale';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan, Not, type EntityManager } from 'typeorm';
import { CatalogApi, type CatalogMatch, type CatalogSector, type MatchFilter } from './catalog.api.ts';
import { matchTable, sectorTable, type MatchRow } from './catalog.tables.ts';
import type { IndexMatch } from './index-match.ts';

const DAY_MS = 86_400_000;

const MATCH_COLUMNS = Object.entries(matchTable.options.columns)
  .map(([property, column]) => `m.${column?.name ?? property} as "${property}"`)
  .join(', ');

/** A prepared statement without the ORM, because the settlement of every payment reads the match. */
const MATCH_BY_ID = `select ${MATCH_COLUMNS} from matches m where id = $1`;

/**
 * Matches that have the words of the tsquery $1, best first, then by kick-off. A page follows the match $3: its rank is computed
 * again, so that the cursor is only its id.
 */
const FOUND_MATCHES = `select ${MATCH_COLUMNS} from match_search s join matches m on m.id = s.match_id
  where s.words @@ $1::tsquery
    and ($2::text is null or $2 = case when m.sale_status = 'scheduled' and m.opens_at <= now() then 'open' else m.sale_status end)
    and ($3::uuid is null or (-ts_rank(s.words, $1::tsquery), m.kickoff_at, m.id) >
      (select -ts_rank(l.words, $1::tsquery), last.kickoff_at, last.id
       from match_search l join matches last on last.id = l.match_id where l.match_id = $3))
  order by -ts_rank(s.words, $1::tsquery), m.kickoff_at, m.id limit $4`;

/** Whether a change (null: unchanged) gives the match other words for the search. Most changes of a match do not. */
const RENAMED = `select 1 from matches
  where id = $1 and (home, away, venue) is distinct from (coalesce($2, home), coalesce($3, away), coalesce($4, venue))`;

/** Matches and sectors in PostgreSQL. */
@Injectable()
export class PostgresCatalog extends CatalogApi {
  constructor(
    private readonly dataSource: DataSource,
    private readonly replicaReads: ReplicaReads,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async match(matchId: string, tx?: Transaction): Promise<CatalogMatch | undefined> {
    const [row] = tx
      ? await inside(tx).rows<MatchRow>(MATCH_BY_ID, [matchId])
      : await this.dataSource.manager.findBy(matchTable, { id: matchId });
    return row && asMatch(row);
  }

  async sectors(matchId: string, tx?: Transaction): Promise<readonly CatalogSector[]> {
    return (await this.manager(tx)).find(sectorTable, { where: { matchId }, order: { position: 'ASC' } });
  }

  async sector(sectorId: string, tx?: Transaction): Promise<CatalogSector | undefined> {
    return (await (await this.manager(tx)).findOneBy(sectorTable, { id: sectorId })) ?? undefined;
  }

  list(filter: MatchFilter): Promise<readonly CatalogMatch[]> {
    return listFrom(this.dataSource.manager, filter);
  }

  /** A match that the replica does not have yet may be new. */
  async shownMatch(freshness: Freshness, matchId: string): Promise<CatalogMatch | undefined> {
    const [row] = await this.replicaReads.read(freshness, (database) => database.findBy(matchTable, { id: matchId }));
    return row ? asMatch(row) : this.match(matchId);
  }

  /** A cursor names a match that the caller has seen. Without this match the page would be empty. */
  shownList(freshness: Freshness, filter: MatchFilter): Promise<readonly CatalogMatch[]> {
    return this.replicaReads.read(filter.after ? 'current' : freshness, (database) => listFrom(database, filter));
  }

  async running(limit: number): Promise<readonly CatalogMatch[]> {
    const rows = await this.dataSource.manager.find(matchTable, {
      where: { saleStatus: Not<SaleStatus>('closed'), kickoffAt: MoreThan(new Date(Date.now() - DAY_MS)) },
      order: { kickoffAt: 'DESC' },
      take: limit,
    });
    return rows.map(asMatch);
  }

  async add(tx: Transaction, match: CatalogMatch, sectors: readonly CatalogSector[]): Promise<void> {
    const manager = await this.manager(tx);
    await manager.insert(matchTable, match);
    await manager.insert(
      sectorTable,
      sectors.map((sector, position) => ({ ...sector, position })),
    );
    await this.jobs.put<IndexMatch>(tx, [{ class: 'index_match', matchId: match.id }]);
  }

  async update(tx: Transaction, matchId: string, change: Partial<Omit<CatalogMatch, 'id'>>): Promise<void> {
    if (Object.keys(change).length === 0) return;
    if (change.maxTicketsPerFan !== undefined)
      await inside(tx).rows(
        `update matches set limit_lowered_at = clock_timestamp() where id = $1 and max_tickets_per_fan > $2`,
        [matchId, change.maxTicketsPerFan],
      );
    const renamed = await inside(tx).rows(RENAMED, [matchId, change.home ?? null, change.away ?? null, change.venue ?? null]);
    await (await this.manager(tx)).update(matchTable, { id: matchId }, change);
    if (renamed.length > 0) await this.jobs.put<IndexMatch>(tx, [{ class: 'index_match', matchId }]);
  }

  private async manager(tx?: Transaction): Promise<EntityManager> {
    return tx ? inside(tx).manager() : this.dataSource.manager;
  }
}

function asMatch({ createdAt: _createdAt, ...row }: MatchRow): CatalogMatch {
  return { ...row, saleStatus: statusAt(row.saleStatus, row.opensAt, new Date()) };
}

/** A page of matches by kick-off, or of those that the search has found, from this database. */
async function listFrom(
  database: Pick<EntityManager, 'query' | 'createQueryBuilder'>,
  filter: MatchFilter,
): Promise<readonly CatalogMatch[]> {
  const words = filter.search === undefined ? undefined : matchQueryOf(filter.search);
  if (words !== undefined) {
    const found = [words, filter.status ?? null, filter.after ?? null, filter.limit];
    return (await database.query<MatchRow[]>(FOUND_MATCHES, found)).map(asMatch);
  }
  const query = database.createQueryBuilder(matchTable, 'm').orderBy('m.kickoffAt').addOrderBy('m.id').limit(filter.limit);
  if (filter.after)
    query.andWhere('(m.kickoffAt, m.id) > (select kickoff_at, id from matches where id = :after)', { after: filter.after });
  if (filter.status === 'scheduled') query.andWhere("m.saleStatus = 'scheduled' and (m.opensAt is null or m.opensAt > now())");
  else if (filter.status === 'open')
    query.andWhere("(m.saleStatus = 'open' or (m.saleStatus = 'scheduled' and m.opensAt <= now()))");
  else if (filter.status) query.andWhere('m.saleStatus = :status', { status: filter.status });
  return (await query.getMany()).map(asMatch);
}
