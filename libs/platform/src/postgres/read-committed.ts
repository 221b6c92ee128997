import type { DataSource } from 'typeorm';
import { driverClientOf, prepared } from './database.ts';
import type { PreparedStatement } from './named-sql.ts';
import { rollBack } from './roll-back.ts';

/**
 * Begins a transaction for work that moves or deletes rows and decides nothing (CONTRACT §8): the outbox relay, the retention
 * job, the run that ends expired holds. At SERIALIZABLE their scans would conflict with every buyer. The isolation level is
 * explicit, because an operator may have changed the default. Such work locks rows with SKIP LOCKED. The lock timeout covers
 * locks that SKIP LOCKED cannot skip, for example on a table that a migration has locked.
 */
export const BEGIN_READ_COMMITTED = `begin isolation level read committed; set local lock_timeout = '8s'`;

/** An open READ COMMITTED transaction. */
export interface ReadCommittedTransaction {
  /** Runs a statement. An `sql` that is a plain text must be a constant, because each text becomes a prepared statement. */
  query<T>(sql: string | PreparedStatement, parameters?: readonly unknown[]): Promise<{ rows: T[]; rowCount: number }>;
}

/** Runs `work` in one READ COMMITTED transaction. Each statement in it has a snapshot of its own. */
export async function runReadCommitted<T>(
  dataSource: DataSource,
  work: (tx: ReadCommittedTransaction) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = await driverClientOf(runner);
    try {
      await client.query(BEGIN_READ_COMMITTED);
      const result = await work({ query: (sql, parameters) => client.query(prepared(sql, parameters)) });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await rollBack(client);
      throw error;
    }
  } finally {
    await runner.release();
  }
}
