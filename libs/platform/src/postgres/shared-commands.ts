import { DomainError } from '#domain/shared/domain-error';
import { Batcher } from '../batching/batcher.ts';
import { requestContext, type RequestKey, type RequestContext } from '../logging/request-context.ts';
import { currentTrace } from '../tracing/spans.ts';
import type { TracePosition } from '../tracing/traceparent.ts';
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

/** A command that waits for a batch, with its idempotency key and its deadline. */
export interface QueuedCommand<C> {
  readonly command: C;
  readonly deadlineAt: number;
  readonly requestKey: RequestKey | undefined;
  /** Where the command is in the trace of its request. */
  readonly trace: TracePosition | undefined;
}

/** Runs the commands of one kind. */
export interface CommandRunner<C, T> {
  /** Runs the batch in one transaction. Returns undefined for a command that must run in a transaction of its own. */
  runBatch(batch: readonly QueuedCommand<C>[]): Promise<readonly (T | undefined)[]>;
  /** Runs one command in a transaction of its own. */
  runOne(command: C): Promise<T>;
}

interface WaitingCommand extends QueuedCommand<unknown> {
  readonly runner: CommandRunner<unknown, unknown>;
  readonly context: RequestContext | undefined;
}

/**
 * Executes commands in batches: waiting commands of one kind share the next transaction. One batch runs at a time, so that batches
 * of one process never conflict with each other. With little traffic a command is not delayed, and under peak load a hundred
 * commands share one commit. A bad command does not make other commands fail: when a batch fails, each of its commands runs again
 * in a transaction of its own.
 */
export class SharedCommands {
  private readonly commands = new Batcher<WaitingCommand, unknown>((batch) => this.runBatch(batch), {
    maxBatchSize: MAX_IN_A_BATCH,
    groupOf: ({ runner }) => runner,
    startWith: setImmediate,
    maxWaiting: { count: MAX_WAITING, error: tooManyCommands },
  });

  constructor(private readonly onFailedBatch: (error: unknown) => void) {}

  /** Runs the command in a batch with others of the same runner; resolves to its result. */
  run<C, T>(runner: CommandRunner<C, T>, command: C, requestKey: RequestKey | undefined): Promise<T> {
    if (isTransactionOpen()) throw new Error('A transaction inside a transaction: pass tx along instead.');
    const context = requestContext.current();
    const deadlineAt = context?.deadlineAt ?? Number.POSITIVE_INFINITY;
    return this.commands.add({ runner, command, deadlineAt, requestKey, context, trace: currentTrace() }) as Promise<T>;
  }

  private async runBatch(batch: readonly WaitingCommand[]): Promise<unknown[]> {
    const minDeadlineAt = Date.now() + MIN_TIME_LEFT_MS;
    const inTime = batch.filter(({ deadlineAt }) => deadlineAt >= minDeadlineAt);
    const results = (inTime.length > 0 ? await this.resultsOf(inTime) : []).values();
    return batch.map(({ deadlineAt }) =>
      deadlineAt >= minDeadlineAt ? results.next().value : Promise.reject(tooManyCommands()),
    );
  }

  /**
   * Runs the commands in one transaction. The result of a command that runs alone is a promise, so that the next batch does not wait
   * for it: this command may wait for a lock.
   */
  private async resultsOf(batch: readonly WaitingCommand[]): Promise<unknown[]> {
    try {
      const values = await batch[0]!.runner.runBatch(batch);
      return batch.map((waiting, index) => (values[index] === undefined ? runAlone(waiting) : values[index]));
    } catch (error) {
      this.onFailedBatch(error);
      // Errors of the whole batch (deadline, database unavailable). A retry of each command would only add load.
      if (error instanceof DomainError || isConnectionLoss(error)) return batch.map(() => Promise.reject(error));
      let previous: Promise<unknown> = Promise.resolve();
      return batch.map((waiting) => (previous = previous.catch(() => undefined).then(() => runAlone(waiting))));
    }
  }
}

function runAlone({ runner, command, context }: WaitingCommand): Promise<unknown> {
  const run = (): Promise<unknown> => runner.runOne(command);
  return context ? requestContext.run(context, run) : run();
}

function tooManyCommands(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'Too many requests at the moment. Nothing was changed; try again.');
}
