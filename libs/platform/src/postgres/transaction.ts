import { Transaction } from '#application/transaction-manager';
import type { EntityManager } from 'typeorm';
import { prepared, type DriverClient } from './database.ts';
import type { PreparedStatement } from './named-sql.ts';
import { sqlstateOf, sqlstates } from './sqlstates.ts';

/**
 * Recognises a SELECT. It may be sent before BEGIN is answered: if BEGIN fails, it changes nothing and its locks are freed at
 * once.
 */
const SELECT = /^\s*select\b/i;

/** A statement was called after the end of its transaction. */
class TransactionEnded extends Error {}

let lastNumber = 0;

/**
 * The implementation of the ports' opaque `tx`: one connection in one SERIALIZABLE transaction. Statements are sent in the order
 * of the calls, without waiting for earlier answers. Statements that are called without `await` between them share one round
 * trip. BEGIN is sent in the same round trip as the first statement if this statement is a SELECT.
 */
export class PostgresTransaction extends Transaction {
  readonly id = `t${(lastNumber += 1)}`;
  /** Destinations of the outbox messages that this transaction wrote, so that their relays can be woken after the commit. */
  readonly destinations = new Set<string>();
  /** Results of the statements sent by `write`, which does not await them. */
  private readonly unawaited: Promise<unknown>[] = [];
  /** The error of the first statement that failed. */
  private firstFailure: unknown;
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

  /** Runs a statement and returns its rows. A plain text must be a constant, because each text becomes a prepared statement. */
  async rows<T>(sql: string | PreparedStatement, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.send<{ rows: T[] }>(prepared(sql, parameters))).rows;
  }

  /** Sends a statement whose result is not needed, without waiting for the answer. If the statement fails, the commit fails. */
  write(sql: string | PreparedStatement, parameters: readonly unknown[] = []): Promise<void> {
    const sent = this.send(prepared(sql, parameters));
    sent.catch(() => undefined);
    this.unawaited.push(sent);
    return Promise.resolve();
  }

  /** TypeORM's entity manager of this transaction. */
  async manager(): Promise<EntityManager> {
    await this.begun;
    this.assertNotEnded();
    return this.orm;
  }

  /**
   * Refuses all later statements, because they would run outside the transaction. Must be called before COMMIT or ROLLBACK is
   * sent.
   */
  end(): void {
    this.hasEnded = true;
  }

  /**
   * Finds the error that made the transaction fail. Statements after this error fail only with "transaction is aborted" (25P02). Of
   * statements that were sent together, the caller may see the error of a later one first.
   */
  async reasonFor(error: unknown): Promise<unknown> {
    for (const sent of [this.begun, ...this.unawaited]) {
      const failure = await sent.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (failure !== undefined && !isConsequence(failure)) return failure;
    }
    return isConsequence(error) ? (this.firstFailure ?? error) : error;
  }

  /**
   * Sends a statement. The first statement that is not a SELECT, and all statements after it, wait until BEGIN was answered: if
   * BEGIN failed, a write would run outside a transaction and could not be rolled back.
   */
  private async send<R>(statement: PreparedStatement): Promise<R> {
    this.hasToAwaitBegin ||= !SELECT.test(statement.text);
    if (this.hasToAwaitBegin && !this.isBegun) await this.begun;
    this.assertNotEnded();
    const sent = this.client.query<R>(statement);
    sent.catch((error: unknown) => (this.firstFailure ??= error));
    const [result] = await Promise.all([sent, this.begun]);
    return result;
  }

  private assertNotEnded(): void {
    if (this.hasEnded) throw new TransactionEnded('A statement after the end of its transaction.');
  }
}

/** True for the error of a statement that failed only because the transaction had failed or ended before. */
function isConsequence(error: unknown): boolean {
  return error instanceof TransactionEnded || sqlstateOf(error) === sqlstates.inFailedTransaction;
}

/** The PostgreSQL transaction behind the opaque `tx` of the ports. Only adapters call this; use cases cannot run SQL. */
export function inside(tx: Transaction): PostgresTransaction {
  if (!(tx instanceof PostgresTransaction)) throw new Error('This transaction was not opened by PostgreSQL.');
  return tx;
}
