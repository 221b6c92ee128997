import { TransactionManager, type RunOptions, type SharedWork, type Transaction } from '#application/transaction-manager';
import type { Counter } from 'prom-client';
import type { DataSource } from 'typeorm';
import { storeAnswer, storeAnswers, insertKey } from './idempotency-row.ts';
import { addActWith } from '../audit/audit-rows.ts';
import { requestContext, type CurrentAct, type RequestKey } from '../logging/request-context.ts';
import { breakConnection, driverClientOf, type DriverClient } from './database.ts';
import type { SpanOptions } from '../tracing/spans.ts';
import { isTransactionOpen, whileTransactionIsOpen } from './open-transaction.ts';
import { rollBack } from './roll-back.ts';
import { AttemptWithoutEffect, lockTimeout, MIN_ATTEMPT_MS, retrySerializable } from './serializable.ts';
import { SharedCommands, type CommandRunner, type QueuedCommand } from './shared-commands.ts';
import { isConnectionLoss, sqlstateOf, sqlstates } from './sqlstates.ts';
import { PostgresTransaction } from './transaction.ts';
import { IDENTITY_COLUMNS, resolveCommit, type TransactionIdentity } from './unknown-commit.ts';

/**
 * Timeout of a commit, which takes milliseconds. After it the outcome is looked up on another connection, for at most half as
 * long.
 */
const COMMIT_TIMEOUT_MS = 10_000;

/** Deadline and hooks of a transaction manager. */
export interface TransactionOptions {
  readonly deadlineMs: number;
  readonly retries?: Pick<Counter<'sqlstate'>, 'inc'>;
  /** Wakes the outbox relays of these destinations. Called after a commit, never inside the transaction. */
  readonly afterCommit?: (destinations: ReadonlySet<string>) => void;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly commitTimeoutMs?: number;
}

/** How the attempts of one `run` are made. */
interface RetriedRun extends Partial<RunOptions> {
  readonly deadlineAt?: number;
  readonly span?: () => SpanOptions;
}

/**
 * Runs SERIALIZABLE transactions with `lock_timeout` 8 s and up to six attempts of the whole block, within the deadline of the
 * request (CONTRACT §8). `lock_timeout` limits the wait for one lock; the deadline limits all waits and attempts together.
 */
export class PostgresTransactionManager extends TransactionManager {
  private readonly sharedCommands: SharedCommands;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: TransactionOptions,
  ) {
    super();
    this.sharedCommands = new SharedCommands((error) => {
      const sqlstate = sqlstateOf(error);
      if (sqlstate) this.options.retries?.inc({ sqlstate });
    });
  }

  run<T>(work: (tx: Transaction) => Promise<T>, { isolation }: RunOptions = { isolation: 'serializable' }): Promise<T> {
    const [requestKey, act] = [currentRequestKey(), currentAct()];
    if (!requestKey && !act) return this.runWithRetries(work, { isolation });
    /** Inserts the idempotency key before `work`, and adds the row of the audit log and the answer after it, in the same transaction. */
    const wholeWork = async (tx: PostgresTransaction): Promise<T> => {
      if (requestKey) await insertKey(tx, requestKey);
      const result = await work(tx);
      if (act) await addActWith(tx, act);
      if (requestKey) await storeAnswer(tx, requestKey, result);
      return result;
    };
    return this.runWithRetries(wholeWork, { isolation }).then(
      (result) => {
        if (act) act.isRecorded = true;
        return result;
      },
      (error: unknown) => {
        delete requestKey?.stored;
        throw error;
      },
    );
  }

  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.runWithRetries(work);
  }

  together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const runner = this.runnerOf(work, (command) => this.run((tx) => work.one(tx, command)));
    // A batch has no row of the audit log: it may have commands of several callers.
    return (command) => (currentAct() ? runner.runOne(command) : this.sharedCommands.run(runner, command, currentRequestKey()));
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const runner = this.runnerOf(work, (command) => this.runStep((tx) => work.one(tx, command)));
    return (command) => this.sharedCommands.run(runner, command, undefined);
  }

  private runnerOf<C, T>(work: SharedWork<C, T>, runOne: (command: C) => Promise<T>): CommandRunner<C, T> {
    return { runBatch: (batch) => this.runBatch(work, batch), runOne };
  }

  /** Runs a batch in one transaction and stores the answers of the commands that were executed in it. */
  private async runBatch<C, T>(work: SharedWork<C, T>, batch: readonly QueuedCommand<C>[]): Promise<readonly (T | undefined)[]> {
    const commands = batch.map(({ command }) => command);
    const deadlineAt = Math.min(Date.now() + this.options.deadlineMs, ...batch.map((queued) => queued.deadlineAt));
    const { values, markStored } = await this.runWithRetries(
      async (tx) => {
        const decided = await work.many(tx, commands);
        const results = batch.flatMap(({ requestKey }, index) => {
          const value = decided[index];
          return requestKey && value !== undefined ? [{ requestKey, value }] : [];
        });
        return { values: decided, markStored: storeAnswers(tx, results) };
      },
      { deadlineAt, span: () => spanOf(batch) },
    );
    markStored();
    return values;
  }

  private async runWithRetries<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    { isolation = 'serializable', deadlineAt = this.deadlineAt(), span }: RetriedRun = {},
  ): Promise<T> {
    if (isTransactionOpen()) throw new Error('A transaction inside a transaction: pass tx along instead.');
    const { sleep, retries } = this.options;
    const onRetry = (sqlstate: string): void => retries?.inc({ sqlstate });
    return retrySerializable(() => this.attempt(work, deadlineAt, isolation), { deadlineAt, onRetry, sleep, span });
  }

  private deadlineAt(): number {
    return requestContext.current()?.deadlineAt ?? Date.now() + this.options.deadlineMs;
  }

  private async attempt<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    deadlineAt: number,
    isolation: RunOptions['isolation'],
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = await driverClientOf(runner);
      const begun = begin(client, deadlineAt, isolation).catch((cause: unknown) => {
        // A pooled connection broke while it was idle. No transaction has begun, so it is safe to try another connection.
        throw isConnectionLoss(cause) ? new AttemptWithoutEffect('no transaction', { cause }) : cause;
      });
      const tx = new PostgresTransaction(client, runner.manager, begun);
      try {
        const result = await whileTransactionIsOpen(() => work(tx));
        // COMMIT must not be sent before the transaction id is known: without it a lost outcome could not be looked up.
        const identity = await begun;
        tx.end();
        await this.commit(client, identity);
        if (tx.destinations.size > 0) this.options.afterCommit?.(tx.destinations);
        return result;
      } catch (error) {
        tx.end();
        await rollBack(client);
        const reason = await tx.reasonFor(error);
        // statement_timeout is set to the time until the deadline, so a cancelled statement means that the deadline has passed.
        throw sqlstateOf(reason) === sqlstates.queryCanceled ? lockTimeout() : reason;
      }
    } finally {
      await runner.release();
    }
  }

  /**
   * Commits. If the connection breaks or does not answer during COMMIT, the outcome is unknown and is looked up on another
   * connection. After a failed statement PostgreSQL answers COMMIT with ROLLBACK and no error, so the answer is checked.
   */
  private async commit(client: DriverClient, transaction: TransactionIdentity): Promise<void> {
    const timeoutMs = this.options.commitTimeoutMs ?? COMMIT_TIMEOUT_MS;
    const timer = setTimeout(() => breakConnection(client), timeoutMs);
    try {
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT') throw new Error('Nothing was committed: a statement failed, but the block ignored its error.');
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      await resolveCommit(this.dataSource, transaction, { timeoutMs: timeoutMs / 2, sleep: this.options.sleep });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A batch belongs to the trace of its first command, and is linked to the traces of the others. */
function spanOf(batch: readonly QueuedCommand<unknown>[]): SpanOptions {
  const [first, ...others] = batch.map(({ trace }) => trace);
  return { parent: first, links: others, attributes: { 'tribina.batch_size': batch.length } };
}

/** Returns the idempotency key of the current request, under which the answer will be stored; undefined without a key. */
function currentRequestKey(): RequestKey | undefined {
  const requestKey = requestContext.current()?.requestKey;
  if (requestKey?.stored)
    throw new Error('A second run in one request: its answer is stored already. Earlier steps use runStep.');
  return requestKey;
}

/** Returns the call that the audit log must record; undefined for the calls of fans and for background work. */
function currentAct(): CurrentAct | undefined {
  const act = requestContext.current()?.act;
  if (act?.isRecorded) throw new Error('A second run in one request: its act is recorded already. Earlier steps use runStep.');
  return act;
}

/**
 * Begins the transaction, sets its local settings and reads the ids by which its outcome can be looked up later. This is one
 * round trip on the pg client; through TypeORM it would be three. Sequential scans are off, because statements are prepared: a
 * plan that was made while a table was empty would keep scanning the whole table.
 */
async function begin(client: DriverClient, deadlineAt: number, isolation: RunOptions['isolation']): Promise<TransactionIdentity> {
  const budgetMs = Math.max(MIN_ATTEMPT_MS, deadlineAt - Date.now());
  const results = await client.query<readonly { readonly rows: readonly TransactionIdentity[] }[]>(
    `begin isolation level ${isolation};
     select set_config('lock_timeout', '8s', true), set_config('statement_timeout', '${Math.ceil(budgetMs)}ms', true),
            set_config('idle_in_transaction_session_timeout', '15s', true), set_config('enable_seqscan', 'off', true), ${IDENTITY_COLUMNS}`,
  );
  const identity = results[1]?.rows[0];
  if (!identity) throw new Error('BEGIN returned no transaction id');
  return identity;
}
