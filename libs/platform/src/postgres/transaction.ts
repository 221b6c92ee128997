import { Transaction } from '#application/transaction-manager';
import type { EntityManager } from 'typeorm';
import { prepared, type DriverClient } from './database.ts';

/** What is behind the opaque `tx` of the ports: one connection in one SERIALIZABLE transaction. */
export class PostgresTransaction extends Transaction {
  /** Where messages were written to, so that the relays can be woken after the commit. */
  readonly destinations = new Set<string>();

  constructor(
    readonly id: string,
    private readonly client: DriverClient,
    readonly manager: EntityManager,
  ) {
    super();
  }

  /** `sql` is a constant: it is prepared. */
  async rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.client.query<{ rows: T[] }>(prepared(sql, parameters))).rows;
  }
}

/** Adapters look inside with this; use cases cannot. */
export function inside(tx: Transaction): PostgresTransaction {
  if (!(tx instanceof PostgresTransaction)) throw new Error('This transaction was not opened by PostgreSQL.');
  return tx;
}
