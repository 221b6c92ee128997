import { TransactionManager, type SharedWork, type Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Counter } from 'prom-client';
import type { DataSource } from 'typeorm';
import { storeAnswer, storeAnswers, takeKey } from './idempotency-row.ts';
import { requestContext, type IdempotencyKey } from '../logging/request-context.ts';
import { breakConnection, driverClientOf, type DriverClient } from './database.ts';
import { isTransactionOpen, whileTransactionIsOpen } from './open-transaction.ts';
import { backoffMs, isConnectionLoss, MAX_ATTEMPTS, RETRYABLE_SQLSTATES, sqlstateOf, sqlstates } from './sqlstates.ts';
import { rollBack } from './roll-back.ts';
import { Mutex, SharedCommands, type Asked } from './shared-commands.ts';
import { PostgresTransaction } from './transaction.ts';
import { BEGUN, resolveCommit, type BegunTransaction } from './unknown-commit.ts';

/** An attempt that cannot finish is not begun. */
const LEAST_TIME_FOR_AN_ATTEMPT_MS = 1000;
/** A commit takes milliseconds; one that is silent for so long is asked about on another connection, half as long. */
const COMMIT_PATIENCE_MS = 10_000;

export interface TransactionOptions {
  readonly deadlineMs: number;
  readonly retries?: Pick<Counter<'sqlstate'>, 'inc'>;
  /** Wakes the relays of these destinations; called after a commit, never inside the transaction. */
  readonly afterCommit?: (destinations: ReadonlySet<string>) => void;
  readonly random?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly commitPatienceMs?: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * SERIALIZABLE, `lock_timeout` 8 s, up to six attempts of the whole block, within the deadline of the request
 * (CONTRACT §8). `lock_timeout` bounds one wait, not a request; the deadline bounds all of them together.
 */
export class PostgresTransactionManager extends TransactionManager {
  private readonly random: () => number;
  private readonly sleep: (ms: number) => Promise<void>;
  private readonly lane = new Mutex();

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: TransactionOptions,
  ) {
    super();
    this.random = options.random ?? Math.random;
    this.sleep = options.sleep ?? pause;
  }

  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const fence = openIdempotencyKey();
    if (!fence) return this.attempts(work);
    return this.attempts((tx) => fenced(tx, fence, work)).catch((error: unknown) => {
      delete fence.stored;
      throw error;
    });
  }

  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.attempts(work);
  }

  together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const commands = this.share(work, (command) => this.run((tx) => work.one(tx, command)));
    return (command) => commands.ask(command, openIdempotencyKey());
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const commands = this.share(work, (command) => this.runStep((tx) => work.one(tx, command)));
    return (command) => commands.ask(command, undefined);
  }

  private share<C, T>(work: SharedWork<C, T>, alone: (command: C) => Promise<T>): SharedCommands<C, T> {
    return new SharedCommands(this.lane, {
      together: (batch) => this.decide(work, batch),
      alone,
      onFailedBatch: (error) => {
        const sqlstate = sqlstateOf(error);
        if (sqlstate) this.options.retries?.inc({ sqlstate });
      },
    });
  }

  /** One transaction for all of them, with the answers of those that were decided in it. */
  private async decide<C, T>(work: SharedWork<C, T>, batch: readonly Asked<C>[]): Promise<readonly (T | undefined)[]> {
    const commands = batch.map(({ command }) => command);
    const deadlineAt = Math.min(Date.now() + this.options.deadlineMs, ...batch.map((asked) => asked.deadlineAt));
    const { values, store } = await this.attempts(async (tx) => {
      const decided = await work.many(tx, commands);
      const answers = batch.flatMap(({ fence }, index) => {
        const value = decided[index];
        return fence && value !== undefined ? [{ fence, value }] : [];
      });
      return { values: decided, store: storeAnswers(tx, answers) };
    }, deadlineAt);
    store();
    return values;
  }

  private async attempts<T>(
    work: (tx: PostgresTransaction) => Promise<T>,
    deadlineAt = requestContext.current()?.deadlineAt ?? Date.now() + this.options.deadlineMs,
  ): Promise<T> {
    if (isTransactionOpen()) throw new Error('A transaction inside a transaction: pass tx along instead.');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (deadlineAt - Date.now() < LEAST_TIME_FOR_AN_ATTEMPT_MS) break;
      try {
        return await this.attempt(work, deadlineAt);
      } catch (error) {
        // A pooled connection that died while nobody used it: nothing has begun, so another one is taken.
        if (error instanceof NotBegun && isConnectionLoss(error.cause) && attempt < MAX_ATTEMPTS) continue;
        if (error instanceof NotBegun) throw error.cause;
        const sqlstate = sqlstateOf(error);
        // statement_timeout is what was left until the deadline.
        if (sqlstate === sqlstates.queryCanceled) break;
        if (!sqlstate || !RETRYABLE_SQLSTATES.has(sqlstate)) throw error;
        if (attempt === MAX_ATTEMPTS) break;
        this.options.retries?.inc({ sqlstate });
        await this.sleep(backoffMs(attempt, this.random));
      }
    }
    throw new DomainError('LOCK_TIMEOUT', 'Too many others want the same right now. Nothing was changed; try again.');
  }

  private async attempt<T>(work: (tx: PostgresTransaction) => Promise<T>, deadlineAt: number): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = await driverClientOf(runner);
      const begun = begin(client, deadlineAt).catch((cause: unknown) => {
        throw new NotBegun('no transaction', { cause });
      });
      const tx = new PostgresTransaction(client, runner.manager, begun);
      try {
        const result = await whileTransactionIsOpen(() => work(tx));
        // Never before: without its number nobody could find out what became of it.
        const known = await begun;
        tx.end();
        await this.commit(client, known);
        if (tx.destinations.size > 0) this.options.afterCommit?.(tx.destinations);
        return result;
      } catch (error) {
        tx.end();
        await rollBack(client);
        throw await tx.reasonFor(error);
      }
    } finally {
      await runner.release();
    }
  }

  /**
   * A connection that breaks, or falls silent, while committing leaves the outcome unknown; it is looked up, not guessed
   * (W6). A COMMIT after a failed statement is answered ROLLBACK, without an error.
   */
  private async commit(client: DriverClient, begun: BegunTransaction): Promise<void> {
    const patienceMs = this.options.commitPatienceMs ?? COMMIT_PATIENCE_MS;
    const impatience = setTimeout(() => breakConnection(client), patienceMs);
    try {
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT')
        throw new Error('Nothing was committed: a statement failed and the block went on as if it had not.');
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      await resolveCommit(this.dataSource, begun, { patienceMs: patienceMs / 2, sleep: this.sleep });
    } finally {
      clearTimeout(impatience);
    }
  }
}

/** Its cause is why. */
class NotBegun extends Error {}

/** What the request's answer will be stored under. */
function openIdempotencyKey(): IdempotencyKey | undefined {
  const fence = requestContext.current()?.fence;
  if (fence?.stored) throw new Error('A second run in one request: its answer is stored already. Earlier steps use runStep.');
  return fence;
}

/** The key first, the answer last. */
async function fenced<T>(tx: PostgresTransaction, fence: IdempotencyKey, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await takeKey(tx, fence);
  const answer = await work(tx);
  await storeAnswer(tx, fence, answer);
  return answer;
}

/**
 * Begins, sets what holds for this transaction only, and learns by what its outcome can be asked for later: one
 * round trip, past TypeORM, which takes three. Without sequential scans, as statements are prepared: a plan that was made
 * while a table was empty would go on reading all of it.
 */
async function begin(client: DriverClient, deadlineAt: number): Promise<BegunTransaction> {
  const budgetMs = Math.max(LEAST_TIME_FOR_AN_ATTEMPT_MS, deadlineAt - Date.now());
  const results = await client.query<readonly { readonly rows: readonly BegunTransaction[] }[]>(
    `begin isolation level serializable;
     select set_config('lock_timeout', '8s', true), set_config('statement_timeout', '${Math.ceil(budgetMs)}ms', true),
            set_config('idle_in_transaction_session_timeout', '15s', true), set_config('enable_seqscan', 'off', true), ${BEGUN}`,
  );
  const begun = results[1]?.rows[0];
  if (!begun) throw new Error('a transaction that begins has a number');
  return begun;
}
