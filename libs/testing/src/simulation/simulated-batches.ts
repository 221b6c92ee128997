import type { SharedWork, Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Process, Scheduler } from './scheduler.ts';

const MAX_BUSY_MS = 20;

/**
 * Lets one batch of a process commit at a time, in the order in which batches asked for it. When the process dies, waiting
 * batches end.
 */
class Mutex {
  private readonly waiting: object[] = [];

  async run(scheduler: Scheduler, work: () => Promise<void>): Promise<void> {
    const ticket = {};
    this.waiting.push(ticket);
    if (this.waiting[0] !== ticket) await scheduler.until('waits for the mutex', () => this.waiting[0] === ticket);
    await work();
    this.waiting.shift();
  }
}

/** The mutexes of all simulated processes, one for each: a process commits one batch at a time. */
export class ProcessMutexes {
  private readonly byProcess = new Map<Process | undefined, Mutex>();

  of(process: Process | undefined): Mutex {
    const mutex = this.byProcess.get(process) ?? new Mutex();
    this.byProcess.set(process, mutex);
    return mutex;
  }
}

/** Counts how often each path through SimulatedBatches was taken, so that a run of many seeds can show that it reached every path. */
export interface BatchCounts {
  'shared commits': number;
  'commands decided in a batch': number;
  'commands decided alone': number;
  'batches rolled back': number;
}

interface WaitingCommand<C, T, K> {
  readonly command: C;
  readonly key: K;
  /**
   * Set by the batch of this command. `after`: the command must be decided alone, once the command `after` is finished
   * (undefined: at once).
   */
  outcome?: { readonly value: T } | { readonly error: unknown } | { readonly after: { isFinished: boolean } | undefined };
  isFinished: boolean;
}

interface Deciding<C, T, K> {
  together(
    batch: readonly { readonly command: C; readonly key: K }[],
    many: SharedWork<C, T>['many'],
  ): Promise<readonly (T | undefined)[]>;
  alone(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/**
 * Simulates libs/platform/src/postgres/shared-commands.ts with tasks. A batch is a task in the process of the first command. Commands
 * wait for their batch. A command that the batch leaves undecided is decided by its own task, under its own idempotency key.
 * Deadlines and the limit of waiting commands are not simulated.
 */
export class SimulatedBatches<C, T, K> {
  private readonly waiting: WaitingCommand<C, T, K>[] = [];
  private isRunning = false;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly mutexes: ProcessMutexes,
    private readonly counts: BatchCounts,
    private readonly work: SharedWork<C, T>,
    private readonly deciding: Deciding<C, T, K>,
  ) {}

  async ask(command: C, key: K): Promise<T> {
    const waitingCommand: WaitingCommand<C, T, K> = { command, key, isFinished: false };
    this.waiting.push(waitingCommand);
    const process = this.scheduler.current?.process;
    // Commands that arrive before the scheduler starts the task 'batch' share its first batch.
    if (!this.isRunning) this.scheduler.spawn('batch', process, () => this.run(this.mutexes.of(process)));
    this.isRunning = true;
    await this.scheduler.until('waits for its batch', () => waitingCommand.outcome !== undefined);
    try {
      return await this.conclude(waitingCommand);
    } finally {
      waitingCommand.isFinished = true;
    }
  }

  private async conclude({ command, outcome }: WaitingCommand<C, T, K>): Promise<T> {
    if (!outcome) throw new Error('a batch ended without an outcome');
    if ('value' in outcome) return outcome.value;
    if ('error' in outcome) throw outcome.error;
    const { after } = outcome;
    if (after && !after.isFinished) await this.scheduler.until('waits for the command before', () => after.isFinished);
    return this.deciding.alone((tx) => this.work.one(tx, command));
  }

  private async run(mutex: Mutex): Promise<void> {
    // Sometimes the process is busy before the batch starts; commands that arrive meanwhile share the batch.
    const enough = this.scheduler.random.pick([1, 1, 2, 3]);
    if (enough > 1)
      await this.scheduler.until('is busy', () => this.waiting.length >= enough, this.scheduler.nowMs + MAX_BUSY_MS);
    while (this.waiting.length > 0) await mutex.run(this.scheduler, () => this.runBatch());
    this.isRunning = false;
  }

  private async runBatch(): Promise<void> {
    const batch = this.waiting.splice(0);
    try {
      const values = await this.deciding.together(batch, (tx, commands) => this.work.many(tx, commands));
      const undecided = values.filter((value) => value === undefined).length;
      this.counts['commands decided alone'] += undecided;
      this.counts['commands decided in a batch'] += batch.length - undecided;
      if (batch.length - undecided > 1) this.counts['shared commits'] += 1;
      for (const [index, waitingCommand] of batch.entries()) {
        const value = values[index];
        waitingCommand.outcome = value === undefined ? { after: undefined } : { value };
      }
    } catch (error) {
      this.counts['batches rolled back'] += 1;
      for (const [index, waitingCommand] of batch.entries())
        waitingCommand.outcome = error instanceof DomainError ? { error } : { after: batch[index - 1] };
    }
  }
}
