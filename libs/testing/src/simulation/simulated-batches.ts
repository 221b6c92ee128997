import type { SharedWork, Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Process, Scheduler } from './scheduler.ts';

const BUSY_MS = 20;

/** One commit at a time in a process, in the order they asked; it dies with its process. */
class Mutex {
  private readonly turns: object[] = [];

  async take(scheduler: Scheduler, round: () => Promise<void>): Promise<void> {
    const turn = {};
    this.turns.push(turn);
    if (this.turns[0] !== turn) await scheduler.until('waits for the lane', () => this.turns[0] === turn);
    await round();
    this.turns.shift();
  }
}

export class ProcessMutexes {
  private readonly byProcess = new Map<Process | undefined, Mutex>();

  of(process: Process | undefined): Mutex {
    const lane = this.byProcess.get(process) ?? new Mutex();
    this.byProcess.set(process, lane);
    return lane;
  }
}

/** To see that a crowd of seeds gets everywhere. */
export interface BatchesSeen {
  'shared commits': number;
  'decided in a round': number;
  'left to themselves': number;
  'rounds undone': number;
}

interface Asked<C, T, K> {
  readonly command: C;
  readonly key: K;
  /** To be decided alone: now, or once the one before it is over. */
  outcome?: { readonly value: T } | { readonly error: unknown } | { readonly after: { isOver: boolean } | undefined };
  isOver: boolean;
}

interface Deciding<C, T, K> {
  together(
    batch: readonly { readonly command: C; readonly key: K }[],
    many: SharedWork<C, T>['many'],
  ): Promise<readonly (T | undefined)[]>;
  alone(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/**
 * What shared-commands.ts does, as tasks: the round is one of its own in the process of who asked first; who asked waits for it,
 * and decides for itself, under its own key, what the round has left. Nobody's time runs out, and nobody is one too many.
 */
export class SimulatedBatches<C, T, K> {
  private readonly waiting: Asked<C, T, K>[] = [];
  private isRunning = false;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly lanes: ProcessMutexes,
    private readonly seen: BatchesSeen,
    private readonly work: SharedWork<C, T>,
    private readonly deciding: Deciding<C, T, K>,
  ) {}

  async ask(command: C, key: K): Promise<T> {
    const asked: Asked<C, T, K> = { command, key, isOver: false };
    this.waiting.push(asked);
    const process = this.scheduler.current?.process;
    // Whoever asks before it is drawn shares the first round.
    if (!this.isRunning) this.scheduler.spawn('round', process, () => this.run(this.lanes.of(process)));
    this.isRunning = true;
    await this.scheduler.until('waits for its round', () => asked.outcome !== undefined);
    try {
      return await this.conclude(asked);
    } finally {
      asked.isOver = true;
    }
  }

  private async conclude({ command, outcome }: Asked<C, T, K>): Promise<T> {
    if (!outcome) throw new Error('a round ended without a word');
    if ('value' in outcome) return outcome.value;
    if ('error' in outcome) throw outcome.error;
    const { after } = outcome;
    if (after && !after.isOver) await this.scheduler.until('waits for those before', () => after.isOver);
    return this.deciding.alone((tx) => this.work.one(tx, command));
  }

  private async run(lane: Mutex): Promise<void> {
    // The process may have other things to do first; those who come meanwhile share.
    const most = this.scheduler.random.pick([1, 1, 2, 3]);
    if (most > 1) await this.scheduler.until('is busy', () => this.waiting.length >= most, this.scheduler.nowMs + BUSY_MS);
    while (this.waiting.length > 0) await lane.take(this.scheduler, () => this.round());
    this.isRunning = false;
  }

  private async round(): Promise<void> {
    const batch = this.waiting.splice(0);
    try {
      const values = await this.deciding.together(batch, (tx, commands) => this.work.many(tx, commands));
      const left = values.filter((value) => value === undefined).length;
      this.seen['left to themselves'] += left;
      this.seen['decided in a round'] += batch.length - left;
      if (batch.length - left > 1) this.seen['shared commits'] += 1;
      for (const [index, asked] of batch.entries()) {
        const value = values[index];
        asked.outcome = value === undefined ? { after: undefined } : { value };
      }
    } catch (error) {
      this.seen['rounds undone'] += 1;
      for (const [index, asked] of batch.entries())
        asked.outcome = error instanceof DomainError ? { error } : { after: batch[index - 1] };
    }
  }
}
