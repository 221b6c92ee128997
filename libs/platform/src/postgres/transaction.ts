import { Transaction } from '#application/transaction-manager';
import type { EntityManager } from 'typeorm';
import { prepared, type DriverClient } from './database.ts';
import type { PreparedStatement } from './named-sql.ts';
import { sqlstateOf, sqlstates } from './sqlstates.ts';

/** A SELECT is safe to send before BEGIN is answered: if BEGIN failed, it changes nothing and its locks are freed at once. */
const SELECT = /^\s*select\b/i;

class TransactionEnded extends Error {}

let lastNumber = 0;

/**
 * The implementation of the ports' opaque `tx`: one connection in one SERIALIZABLE transaction. Statements are sent in the order
 * of the calls, without waiting for earlier answers. Statements that are called without `await` between them share one round
 * trip. BEGIN shares it with the first statement if that one is a SELECT.
 */
export class PostgresTransaction extends Transaction {
  readonly id = `t${(lastNumber += 1)}`;
  /** Destinations of the messages that were written, so that their relays can be woken after the commit. */
  readonly destinations = new Set<string>();
  /** Statements of `write`, whose results the block does not await. */
  private readonly unawaited: Promise<unknown>[] = [];
  private isBegun = false;
  private hasToAwaitBegin = false;
  private hasEnded = false;

  constructor(
    private readonly client: DriverClient,
    private readonly orm: EntityManager,
    private readonly begun: Promise<unknown>,
  ) {
    super();
    begun.then(
      () => (this.isBegun = true),
      () => undefined,
    );
  }

  /** A text must be a constant, because each text becomes a prepared statement. */
  async rows<T>(sql: string | PreparedStatement, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.send<{ rows: T[] }>(prepared(sql, parameters))).rows;
  }

  /** For a statement whose result is not needed. It is sent without waiting for the answer; if it fails, the commit fails. */
  write(sql: string | PreparedStatement, parameters: readonly unknown[] = []): Promise<void> {
    const sent = this.send(prepared(sql, parameters));
    sent.catch(() => undefined);
    this.unawaited.push(sent);
    return Promise.resolve();
  }

  async manager(): Promise<EntityManager> {
    await this.begun;
    this.assertNotEnded();
    return this.orm;
  }

  /** Call it before COMMIT or ROLLBACK is sent: a later statement is refused, because it would run outside the transaction. */
  end(): void {
    this.hasEnded = true;
  }

  /** The error that made the transaction fail. Statements after it fail only with "transaction is aborted" (25P02). */
  async reasonFor(error: unknown): Promise<unknown> {
    for (const sent of [this.begun, ...this.unawaited]) {
      const failure = await sent.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const isConsequence = failure instanceof TransactionEnded || sqlstateOf(failure) === sqlstates.inFailedTransaction;
      if (failure !== undefined && !isConsequence) return failure;
    }
    return error;
  }

  /**
   * The first write and all statements after it wait until BEGIN was answered. If BEGIN failed, a write would run outside a
   * transaction and could not be rolled back.
   */
  private async send<R>(statement: PreparedStatement): Promise<R> {
    this.hasToAwaitBegin ||= !SELECT.test(statement.text);
    if (this.hasToAwaitBegin && !this.isBegun) await this.begun;
    this.assertNotEnded();
    const [result] = await Promise.all([this.client.query<R>(statement), this.begun]);
    return result;
  }

  private assertNotEnded(): void {
    if (this.hasEnded) throw new TransactionEnded('A statement after the end of its transaction.');
  }
}

/** The PostgreSQL transaction behind the opaque `tx` of the ports. Only adapters call this; use cases cannot run SQL. */
export function inside(tx: Transaction): PostgresTransaction {
  if (!(tx instanceof PostgresTransaction)) throw new Error('This transaction was not opened by PostgreSQL.');
  return tx;
}
