import { Transaction } from '#application/transaction-manager';
import type { EntityManager, QueryRunner } from 'typeorm';

/** What is behind the opaque `tx` of the ports: one connection in one SERIALIZABLE transaction. */
export class PostgresTransaction extends Transaction {
  /** Where messages were written to, so that the relays can be woken after the commit. */
  readonly destinations = new Set<string>();

  constructor(
    readonly id: string,
    private readonly runner: QueryRunner,
  ) {
    super();
  }

  get manager(): EntityManager {
    return this.runner.manager;
  }

  async rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    const result = await this.runner.query(sql, [...parameters], true);
    return (result.records ?? []) as T[];
  }
}

/** Adapters look inside with this; use cases cannot. */
export function inside(tx: Transaction): PostgresTransaction {
  if (!(tx instanceof PostgresTransaction)) throw new Error('This transaction was not opened by PostgreSQL.');
  return tx;
}
