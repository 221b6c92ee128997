import type { DataSource } from 'typeorm';
import { driverClientOf, prepared, type DriverClient } from './database.ts';
import { rollBack } from './roll-back.ts';

/**
 * For work that moves rows and decides nothing (CONTRACT §8): the relay, the purges, the expiry sweeper. At SERIALIZABLE their
 * scans would conflict with every buyer. The isolation is named, because an operator may have set another default. They lock
 * rows with SKIP LOCKED; the lock timeout is for what cannot be skipped, as a table that a migration has locked.
 */
export const BEGIN_MOVING = `begin isolation level read committed; set local lock_timeout = '8s'`;

interface Moved<T> {
  readonly rows: T[];
  readonly rowCount: number;
}

export interface MovingTransaction {
  /** `sql` is a constant: it is prepared. */
  query<T>(sql: string, parameters: readonly unknown[]): Promise<Moved<T>>;
}

/** One READ COMMITTED transaction. Each statement in it has a snapshot of its own. */
export async function movingRows<T>(dataSource: DataSource, work: (tx: MovingTransaction) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = await driverClientOf(runner);
    return await committed(client, work).catch(async (error: unknown) => {
      await rollBack(client);
      throw error;
    });
  } finally {
    await runner.release();
  }
}

async function committed<T>(client: DriverClient, work: (tx: MovingTransaction) => Promise<T>): Promise<T> {
  await client.query(BEGIN_MOVING);
  const result = await work({ query: (sql, parameters) => client.query(prepared(sql, parameters)) });
  await client.query('COMMIT');
  return result;
}
