import { DomainError } from '#domain/shared/domain-error';
import { requestContext, type IdempotencyKey, type RequestContext } from '../logging/request-context.ts';
import { isTransactionOpen } from './open-transaction.ts';
import { isConnectionLoss } from './sqlstates.ts';

/** One commit for so many: more wait for the next, as each holds its rows until all are done. */
const MAX_IN_A_BATCH = 128;
/** Whoever has less time left would take it from all others of a round. */
const LEAST_TIME_MS = 2000;
/** Some seconds of work; whoever comes after that is better told to come back. */
const MOST_WAITING = 5000;

/** One round at a time, whoever's it is, in the order they asked: transactions of one process never meet each other. */
export class Mutex {
  private last: Promise<void> = Promise.resolve();

  /** `round` does not throw. */
  take(round: () => Promise<void>): Promise<void> {
    this.last = this.last.then(round);
    return this.last;
  }
}

export interface Asked<C> {
  readonly command: C;
  readonly deadlineAt: number;
  readonly fence: IdempotencyKey | undefined;
}

interface Waiting<C, T> extends Asked<C> {
  readonly context: RequestContext | undefined;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Deciding<C, T> {
  /** All of them in one transaction; undefined for those that are left to be decided by themselves. */
  together(batch: readonly Asked<C>[]): Promise<readonly (T | undefined)[]>;
  alone(command: C): Promise<T>;
  onFailedBatch(error: unknown): void;
}

/**
 * Commands that wait share a round. The next one begins the moment the lane is free: alone in the morning a command waits for
 * nobody, in the rush a hundred share one commit. One bad command never fails the others: a round that fails is decided
 * again, each by itself.
 */
export class SharedCommands<C, T> {
  private readonly waiting: Waiting<C, T>[] = [];
  private isRunning = false;

  constructor(
    private readonly mutex: Mutex,
    private readonly deciding: Deciding<C, T>,
  ) {}

  ask(command: C, fence: IdempotencyKey | undefined): Promise<T> {
    if (isTransactionOpen()) throw new Error('A transaction inside a transaction: pass tx along instead.');
    if (this.waiting.length >= MOST_WAITING) throw tooMany();
    const context = requestContext.current();
    const deadlineAt = context?.deadlineAt ?? Number.POSITIVE_INFINITY;
    return new Promise((resolve, reject) => {
      this.waiting.push({ command, deadlineAt, fence, context, resolve, reject });
      if (!this.isRunning) requestContext.exit(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    // Whoever asks in the same turn of the event loop shares the first round.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.mutex.take(() => this.round());
    this.isRunning = false;
  }

  private async round(): Promise<void> {
    const latest = Date.now() + LEAST_TIME_MS;
    const batch = this.waiting.splice(0, MAX_IN_A_BATCH).filter((one) => {
      const isLate = one.deadlineAt < latest;
      if (isLate) one.reject(tooMany());
      return !isLate;
    });
    if (batch.length === 0) return;
    try {
      const values = await this.deciding.together(batch);
      for (const [index, one] of batch.entries()) {
        const value = values[index];
        // Outside of the lane: it may have to wait for a lock, and nobody else should.
        if (value === undefined) void this.alone(one);
        else one.resolve(value);
      }
    } catch (error) {
      this.deciding.onFailedBatch(error);
      // What concerns all of them is told to all: as many attempts to connect would help nobody.
      if (error instanceof DomainError || isConnectionLoss(error)) for (const one of batch) one.reject(error);
      else void this.eachAlone(batch);
    }
  }

  private async eachAlone(batch: readonly Waiting<C, T>[]): Promise<void> {
    for (const one of batch) await this.alone(one);
  }

  private async alone({ command, context, resolve, reject }: Waiting<C, T>): Promise<void> {
    const decide = (): Promise<T> => this.deciding.alone(command);
    await (context ? requestContext.run(context, decide) : decide()).then(resolve, reject);
  }
}

function tooMany(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'More buyers than can be served this moment. Nothing was changed; try again.');
}
