import { DomainError } from '#domain/shared/domain-error';
import { requestContext, type RequestKey, type RequestContext } from '../logging/request-context.ts';
import { isTransactionOpen } from './open-transaction.ts';
import { isConnectionLoss } from './sqlstates.ts';

/**
 * Maximum number of commands in one transaction. It is low, because the rows of each command stay locked until the whole batch
 * commits.
 */
const MAX_IN_A_BATCH = 128;
/**
 * Minimum time until the deadline of a command. A command with less time left is refused, because its deadline would become the
 * deadline of the whole batch.
 */
const MIN_TIME_LEFT_MS = 2000;
/**
 * Maximum number of waiting commands, some seconds of work. Further commands are refused at once, so that the client can try
 * again.
 */
const MAX_WAITING = 5000;

/** Runs one task at a time, in the order of the calls, so that batches of one process never conflict with each other. */
export class Mutex {
  private last: Promise<void> = Promise.resolve();

  /** Runs `task` when all earlier tasks have ended. It must not throw. */
  runExclusive(task: () => Promise<void>): Promise<void> {
    this.last = this.last.then(task);
    return this.last;
  }
}

/** A command that waits for a batch, with its idempotency key and its deadline. */
export interface QueuedCommand<C> {
  readonly command: C;
  readonly deadlineAt: number;
  readonly requestKey: RequestKey | undefined;
}

interface WaitingCommand<C, T> extends QueuedCommand<C> {
  readonly context: RequestContext | undefined;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface CommandRunner<C, T> {
  /** Runs the batch in one transaction. Returns undefined for a command that must run in a transaction of its own. */
  runBatch(batch: readonly QueuedCommand<C>[]): Promise<readonly (T | undefined)[]>;
  /** Runs one command in a transaction of its own. */
  runOne(command: C): Promise<T>;
  onFailedBatch(error: unknown): void;
}

/**
 * Executes commands in batches: commands that wait share the next transaction. A batch starts as soon as the mutex is free. So
 * with little traffic a command is not delayed, and under peak load a hundred commands share one commit. A bad command does not
 * make other commands fail: when a batch fails, each of its commands runs again in a transaction of its own.
 */
export class SharedCommands<C, T> {
  private readonly waiting: WaitingCommand<C, T>[] = [];
  private isRunning = false;

  constructor(
    private readonly mutex: Mutex,
    private readonly runner: CommandRunner<C, T>,
  ) {}

  run(command: C, requestKey: RequestKey | undefined): Promise<T> {
    if (isTransactionOpen()) throw new Error('A transaction inside a transaction: pass tx along instead.');
    if (this.waiting.length >= MAX_WAITING) throw tooManyCommands();
    const context = requestContext.current();
    const deadlineAt = context?.deadlineAt ?? Number.POSITIVE_INFINITY;
    return new Promise((resolve, reject) => {
      this.waiting.push({ command, deadlineAt, requestKey, context, resolve, reject });
      if (!this.isRunning) requestContext.exit(() => void this.runAllBatches());
    });
  }

  private async runAllBatches(): Promise<void> {
    this.isRunning = true;
    // All commands of the same event loop tick share the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.mutex.runExclusive(() => this.runNextBatch());
    this.isRunning = false;
  }

  private async runNextBatch(): Promise<void> {
    const minDeadlineAt = Date.now() + MIN_TIME_LEFT_MS;
    const batch = this.waiting.splice(0, MAX_IN_A_BATCH).filter((waiting) => {
      const isLate = waiting.deadlineAt < minDeadlineAt;
      if (isLate) waiting.reject(tooManyCommands());
      return !isLate;
    });
    if (batch.length === 0) return;
    try {
      const values = await this.runner.runBatch(batch);
      for (const [index, waiting] of batch.entries()) {
        const value = values[index];
        // Not awaited, so that the mutex becomes free: this command may wait for a lock, and the next batch must not wait for
        // that.
        if (value === undefined) void this.runAlone(waiting);
        else waiting.resolve(value);
      }
    } catch (error) {
      this.runner.onFailedBatch(error);
      // Errors of the whole batch (deadline, database unavailable). A retry of each command would only add load.
      if (error instanceof DomainError || isConnectionLoss(error)) for (const waiting of batch) waiting.reject(error);
      else void this.runEachAlone(batch);
    }
  }

  private async runEachAlone(batch: readonly WaitingCommand<C, T>[]): Promise<void> {
    for (const waiting of batch) await this.runAlone(waiting);
  }

  private async runAlone({ command, context, resolve, reject }: WaitingCommand<C, T>): Promise<void> {
    const run = (): Promise<T> => this.runner.runOne(command);
    await (context ? requestContext.run(context, run) : run()).then(resolve, reject);
  }
}

function tooManyCommands(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'Too many requests at the moment. Nothing was changed; try again.');
}
