import type { DataSource } from 'typeorm';
import { Batcher } from '../batching/batcher.ts';
import { driverClientOf } from './database.ts';
import type { PreparedStatement } from './named-sql.ts';
import { rollBack } from './roll-back.ts';

/** Sequential scans are off, because the statement is prepared: a plan made while a table was empty would keep scanning it. */
const BEGIN = 'begin isolation level read committed read only; set local enable_seqscan = off';
/** A second batch beside a slow one. More of them would make the batches smaller, and each batch costs a transaction. */
const MAX_IN_PROGRESS = 2;

/** A statement that reads rows by key, and the key of a row of its result. */
export interface ReadByKey<Row> {
  readonly statement: (keys: readonly string[]) => PreparedStatement;
  readonly keyOf: (row: Row) => string;
}

/**
 * Reads rows by key for many callers. Calls that arrive together share one prepared statement. Alone, each would be planned anew:
 * for an order with its seats and timeline that takes longer than reading it. A call sees everything that was committed before it.
 */
export class BatchedReads<Row> {
  private readonly calls = new Batcher<readonly string[], Row[]>((calls) => this.read(calls), {
    maxInProgress: MAX_IN_PROGRESS,
    startWith: setImmediate,
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly reads: ReadByKey<Row>,
  ) {}

  /** The rows with these keys, in the order of the keys. Rows with the same key are in the order of the statement. */
  rows(...keys: readonly string[]): Promise<Row[]> {
    return this.calls.add(keys);
  }

  private async read(calls: readonly (readonly string[])[]): Promise<Row[][]> {
    const rowsOfKey = new Map<string, Row[]>(calls.flat().map((key) => [key, []]));
    for (const row of await this.fetch([...rowsOfKey.keys()])) rowsOfKey.get(this.reads.keyOf(row))?.push(row);
    return calls.map((keys) => keys.flatMap((key) => rowsOfKey.get(key)!));
  }

  private async fetch(keys: readonly string[]): Promise<Row[]> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = await driverClientOf(runner);
      try {
        // The three travel together in one round trip.
        const [, { rows }] = await Promise.all([
          client.query(BEGIN),
          client.query<{ readonly rows: Row[] }>(this.reads.statement(keys)),
          client.query('COMMIT'),
        ]);
        return rows;
      } catch (error) {
        await rollBack(client);
        throw error;
      }
    } finally {
      await runner.release();
    }
  }
}
