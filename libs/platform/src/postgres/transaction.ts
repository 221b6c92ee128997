import { Transaction } from '#application/transaction-manager';
import type { EntityManager } from 'typeorm';
import { prepared, type DriverClient } from './database.ts';
import { sqlstateOf, sqlstates } from './sqlstates.ts';

/** Changes nothing where no transaction has begun: what it locks there is free again at once. */
const READS = /^\s*select\b/i;

class TooLate extends Error {}

let opened = 0;

/**
 * What is behind the opaque `tx` of the ports: one connection in one SERIALIZABLE transaction. Statements go out in the order
 * they are asked for, and nobody waits for an answer that nobody needs yet: those that are asked for together are one round
 * trip, and so is BEGIN with the first of them if it only reads.
 */
export class PostgresTransaction extends Transaction {
  readonly id = `t${(opened += 1)}`;
  /** Where messages were written to, so that the relays can be woken after the commit. */
  readonly destinations = new Set<string>();
  private readonly unseen: Promise<unknown>[] = [];
  private isBegun = false;
  private isHeldBack = false;
  private isOver = false;

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

  /** `sql` is a constant: it is prepared. */
  async rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return (await this.send<{ rows: T[] }>(sql, parameters)).rows;
  }

  /** For what only has to be done: sent, and waited for with the commit, which does not happen without it. */
  write(sql: string, parameters: readonly unknown[]): Promise<void> {
    const sent = this.send(sql, parameters);
    sent.catch(() => undefined);
    this.unseen.push(sent);
    return Promise.resolve();
  }

  async manager(): Promise<EntityManager> {
    await this.begun;
    this.mustGoOn();
    return this.orm;
  }

  /** Before COMMIT or ROLLBACK is sent: what somebody still sends behind that would be a transaction of its own. */
  end(): void {
    this.isOver = true;
  }

  /** The first failure says why; of everything sent behind it the server only says that it is over. */
  async reasonFor(error: unknown): Promise<unknown> {
    for (const sent of [this.begun, ...this.unseen]) {
      const failure = await sent.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const isConsequence = failure instanceof TooLate || sqlstateOf(failure) === sqlstates.inFailedTransaction;
      if (failure !== undefined && !isConsequence) return failure;
    }
    return error;
  }

  /** A write that ran though nothing had begun could not be taken back, so it waits, and so does what comes after it. */
  private async send<R>(sql: string, parameters: readonly unknown[]): Promise<R> {
    this.isHeldBack ||= !READS.test(sql);
    if (this.isHeldBack && !this.isBegun) await this.begun;
    this.mustGoOn();
    const [result] = await Promise.all([this.client.query<R>(prepared(sql, parameters)), this.begun]);
    return result;
  }

  private mustGoOn(): void {
    if (this.isOver) throw new TooLate('A statement after the end of its transaction.');
  }
}

/** Adapters look inside with this; use cases cannot. */
export function inside(tx: Transaction): PostgresTransaction {
  if (!(tx instanceof PostgresTransaction)) throw new Error('This transaction was not opened by PostgreSQL.');
  return tx;
}
