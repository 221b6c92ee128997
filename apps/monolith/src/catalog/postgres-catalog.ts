import type { Transaction } from '#application/transaction-manager';
import { statusAt, type SaleStatus } from '#domain/catalog/sale';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource, Not, type EntityManager } from 'typeorm';
import { CatalogApi, type CatalogMatch, type CatalogSector } from './catalog.api.ts';
import { matchTable, sectorTable, type MatchRow } from './catalog.tables.ts';

/** A prepared statement without the ORM, because the settlement of every payment reads the match. */
const MATCH_BY_ID = `select ${Object.entries(matchTable.options.columns)
  .map(([property, column]) => `${column?.name ?? property} as "${property}"`)
  .join(', ')} from matches where id = $1`;

/** Matches and sectors in PostgreSQL. */
@Injectable()
export class PostgresCatalog extends CatalogApi {
  constructor(private readonly dataSource: DataSource) {
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

  async sector(sectorId: string): Promise<CatalogSector | undefined> {
    return (await this.dataSource.manager.findOneBy(sectorTable, { id: sectorId })) ?? undefined;
  }

  async list(filter: { status?: SaleStatus; after?: string; limit: number }): Promise<readonly CatalogMatch[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(matchTable, 'm')
      .orderBy('m.kickoffAt')
      .addOrderBy('m.id')
      .limit(filter.limit);
    if (filter.after)
      query.andWhere('(m.kickoffAt, m.id) > (select kickoff_at, id from matches where id = :after)', { after: filter.after });
    if (filter.status === 'scheduled') query.andWhere("m.saleStatus = 'scheduled' and (m.opensAt is null or m.opensAt > now())");
    else if (filter.status === 'open')
      query.andWhere("(m.saleStatus = 'open' or (m.saleStatus = 'scheduled' and m.opensAt <= now()))");
    else if (filter.status) query.andWhere('m.saleStatus = :status', { status: filter.status });
    return (await query.getMany()).map(asMatch);
  }

  async running(limit: number): Promise<readonly CatalogMatch[]> {
    const rows = await this.dataSource.manager.find(matchTable, {
      where: { saleStatus: Not<SaleStatus>('closed') },
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
  }

  async update(tx: Transaction, matchId: string, change: Partial<Omit<CatalogMatch, 'id'>>): Promise<void> {
    if (Object.keys(change).length === 0) return;
    if (change.maxTicketsPerFan !== undefined)
      await inside(tx).rows(
        `update matches set limit_lowered_at = clock_timestamp() where id = $1 and max_tickets_per_fan > $2`,
        [matchId, change.maxTicketsPerFan],
      );
    await (await this.manager(tx)).update(matchTable, { id: matchId }, change);
  }

  private async manager(tx?: Transaction): Promise<EntityManager> {
    return tx ? inside(tx).manager() : this.dataSource.manager;
  }
}

function asMatch({ createdAt: _createdAt, ...row }: MatchRow): CatalogMatch {
  return { ...row, saleStatus: statusAt(row.saleStatus, row.opensAt, new Date()) };
}
