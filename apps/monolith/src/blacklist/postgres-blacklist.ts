import type { Transaction } from '#application/transaction-manager';
import type { ListedFan } from '#domain/blacklist/listed-fans';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';

/** A fan on the blacklist, with the reason, the end and the operator. */
export interface BlacklistEntry {
  readonly id: string;
  readonly userId: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly listedBy: string;
  readonly listedAt: Date;
}

/** What an entry said before it was replaced or removed. */
type FormerEntry = Pick<BlacklistEntry, 'reason' | 'until'>;

/** A row of the history: an operator put a fan on the blacklist (`list`) or took the fan off (`lift`). */
export interface BlacklistChange {
  readonly action: 'list' | 'lift';
  readonly reason: string | null;
  readonly until: Date | null;
  readonly by: string;
  readonly at: Date;
}

/** SQL condition: the entry has not expired. Uses the database's clock, like every time limit in the project. */
const IN_FORCE = '(until is null or until > clock_timestamp())';

const COLUMNS = `entry_id as id, user_id as "userId", reason, until, listed_by as "listedBy", listed_at as "listedAt"`;

/**
 * Blocks other writers of the blacklist, not readers. The lock must be the first statement of the transaction, so that the
 * transaction's snapshot shows what the previous writer committed.
 */
const LOCK = 'lock table blacklist in share row exclusive mode';

const PUT = `
  with before as (
    select reason, until from blacklist where user_id = $2 and ${IN_FORCE}
  ), noted as (
    insert into blacklist_changes (user_id, action, reason, until, by, at) values ($2, 'list', $3, $4, $5, $6)
  ), put as (
    insert into blacklist (entry_id, user_id, reason, until, listed_by, listed_at) values ($1, $2, $3, $4, $5, $6)
    on conflict (user_id) do update set entry_id = excluded.entry_id, reason = excluded.reason, until = excluded.until,
      listed_by = excluded.listed_by, listed_at = excluded.listed_at
  ) select reason, until from before`;

const LIFT = `
  with removed as (
    delete from blacklist where user_id = $1 returning reason, until, ${IN_FORCE} as in_force
  ), noted as (
    insert into blacklist_changes (user_id, action, by, at) select $1, 'lift', $2, $3 from removed where in_force
  ) select reason, until from removed where in_force`;

/** Revision and entries are read in one statement, so that the entries are those of this revision. */
const ALL = `
  select (select coalesce(max(id), 0) from blacklist_changes) as revision,
         coalesce((select json_agg(json_build_object(
           'userId', user_id, 'restMs', extract(epoch from until - clock_timestamp()) * 1000, 'untilMs', floor(extract(epoch from until) * 1000)
         )) from blacklist where ${IN_FORCE}), '[]') as fans`;

/** The whole blacklist at one revision. */
export interface BlacklistSnapshot {
  readonly revision: string;
  readonly fans: readonly (ListedFan & { readonly untilMs: number | null })[];
}

/** The blacklist and its history. An entry counts until its `until` has passed. */
export class PostgresBlacklist {
  constructor(private readonly dataSource: DataSource) {}

  /** Blocks other writers of the blacklist until the transaction ends. Returns the database's current time. */
  async lock(tx: Transaction): Promise<Date> {
    await inside(tx).rows(LOCK);
    const [row] = await inside(tx).rows<{ now: Date }>(`select date_trunc('milliseconds', clock_timestamp()) as now`);
    if (!row) throw new Error('the database did not return its time');
    return row.now;
  }

  /** Adds the entry, or replaces the fan's entry and returns the old one. */
  async put(tx: Transaction, entry: BlacklistEntry): Promise<FormerEntry | undefined> {
    const { id, userId, reason, until, listedBy, listedAt } = entry;
    const [before] = await inside(tx).rows<FormerEntry>(PUT, [id, userId, reason, until, listedBy, listedAt]);
    return before;
  }

  /** Removes the fan's entry and returns it. Returns undefined if the fan was not on the blacklist. */
  async lift(tx: Transaction, { userId, by, at }: { userId: string; by: string; at: Date }): Promise<FormerEntry | undefined> {
    const [before] = await inside(tx).rows<FormerEntry>(LIFT, [userId, by, at]);
    return before;
  }

  async find(userId: string): Promise<{ listing: BlacklistEntry | undefined; changes: readonly BlacklistChange[] }> {
    const [[listing], changes] = await Promise.all([
      this.dataSource.query<BlacklistEntry[]>(`select ${COLUMNS} from blacklist where user_id = $1 and ${IN_FORCE}`, [userId]),
      this.dataSource.query<BlacklistChange[]>(
        `select action, reason, until, by, at from blacklist_changes where user_id = $1 order by id desc limit 100`,
        [userId],
      ),
    ]);
    return { listing, changes };
  }

  /** One page of the entries that have not expired, newest first. */
  list({ before, limit }: { before: string | undefined; limit: number }): Promise<readonly BlacklistEntry[]> {
    return this.dataSource.query<BlacklistEntry[]>(
      `select ${COLUMNS} from blacklist where ${IN_FORCE} and ($1::uuid is null or entry_id < $1) order by entry_id desc limit $2`,
      [before ?? null, limit],
    );
  }

  async listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (userIds.length === 0) return new Set();
    const rows = await inside(tx).rows<{ user_id: string }>(
      `select user_id from blacklist where user_id = any($1::uuid[]) and ${IN_FORCE}`,
      [userIds],
    );
    return new Set(rows.map(({ user_id }) => user_id));
  }

  /** The revision of the blacklist: a number that grows with every change. */
  async revision(): Promise<string> {
    const [row] = await this.dataSource.query<{ revision: string }[]>(
      'select coalesce(max(id), 0) as revision from blacklist_changes',
    );
    return row?.revision ?? '0';
  }

  async all(): Promise<BlacklistSnapshot> {
    const [whole] = await this.dataSource.query<BlacklistSnapshot[]>(ALL);
    return whole ?? { revision: '0', fans: [] };
  }
}
