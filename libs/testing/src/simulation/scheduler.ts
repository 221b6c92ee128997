import { SeededRandom } from './seeded-random.ts';

/*
 * Many tasks, one at a time. A task runs until it reaches a point where in life something else could happen (a statement is
 * sent, a lock waited for, an answer on its way); there it is parked, and chance decides who goes on.
 *
 *   running ──step, sleep, until──▶ parked ──drawn, and ready──▶ running ──returned──▶ done
 *                                     │                              └──threw──▶ failed
 *                                     └──its process crashed──▶ crashed: never goes on
 *
 * The clock stands still unless chance moves it, and then likes to stop exactly at the moments something expires.
 */

/** A replica: what runs in it ends with it. */
export interface Process {
  readonly name: string;
  /** Stopped (SIGSTOP, a long collection of garbage) until then; its locks and its memory stay. */
  frozenUntil: number;
  /** How often one of its tasks has gone on. */
  steps: number;
  /** It dies when its tasks have gone on so often and one of them stops again. */
  diesAfter?: number;
}

export interface Task {
  readonly name: string;
  readonly process: Process | undefined;
  state: 'running' | 'done' | 'failed' | 'crashed';
  steps: number;
  value?: unknown;
  error?: unknown;
}

interface Parked {
  readonly task: Task;
  readonly at: string;
  /** Not before; or, with `isReady`, in any case then. */
  readonly wakeAt: number;
  readonly isReady: (() => boolean) | undefined;
  readonly resume: () => void;
}

/** A run of the purchase takes some hundred steps; one that takes so many goes round in circles. */
const MOST_STEPS = 20_000;
const NEVER = Number.POSITIVE_INFINITY;

export class Scheduler {
  readonly random: SeededRandom;
  nowMs = Date.UTC(2026, 0, 1);
  steps = 0;
  /** Tells runs apart: the same number, the same order of steps. */
  fingerprint = 0x811c9dc5;
  current: Task | undefined;
  /** Told of every task that is gone with its process. */
  readonly crashed: ((task: Task) => void)[] = [];
  private readonly startedMs = this.nowMs;
  private readonly tasks: Task[] = [];
  private parked: Parked[] = [];
  private moments: number[] = [];
  private ids = 100;
  private last: Task | undefined;
  private stopped: () => void = () => undefined;
  /** How readily a task goes on, and the clock moves: differs from run to run, as every style finds other faults. */
  private readonly stickiness: number;
  clockRate: number;

  constructor(
    seed: number,
    private readonly trace?: (line: string) => void,
  ) {
    this.random = new SeededRandom(seed);
    this.stickiness = this.random.pick([0, 0, 0.4, 0.75, 0.9]);
    this.clockRate = 0.1 * this.random.next();
  }

  now(): Date {
    return new Date(this.nowMs);
  }

  /** "r17": the same in every run of this seed. */
  newId(prefix: string): string {
    this.ids += 1;
    return `${prefix}${this.ids}`;
  }

  /** Something may happen before this does. */
  step(at: string): Promise<void> {
    return this.park(at, 0);
  }

  sleep(ms: number): Promise<void> {
    return this.park('sleeps', this.nowMs + ms);
  }

  sleepUntil(ms: number): Promise<void> {
    return this.park('sleeps', ms);
  }

  /** Until it is so, or until then. */
  until(at: string, isReady: () => boolean, latestMs = NEVER): Promise<void> {
    return this.park(at, latestMs, isReady);
  }

  async finished(task: Task): Promise<Task> {
    if (task.state === 'running') await this.until(`waits for ${task.name}`, () => task.state !== 'running');
    return task;
  }

  /** Something ends then: the clock will like to stop there, or a millisecond before. */
  expectMoment(ms: number): void {
    if (!this.moments.includes(ms)) this.moments.push(ms);
  }

  /** When the next thing ends; now, if nothing does. */
  nextMoment(): number {
    const soonest = Math.min(...this.moments.filter((ms) => ms > this.nowMs));
    return soonest === NEVER ? this.nowMs : soonest;
  }

  spawn(name: string, process: Process | undefined, work: () => Promise<unknown>): Task {
    const task: Task = { name, process, state: 'running', steps: 0 };
    this.tasks.push(task);
    const settle = (state: 'done' | 'failed', outcome: { value?: unknown; error?: unknown }): void => {
      if (task.state !== 'running') return;
      Object.assign(task, { state, ...outcome });
      this.stopped();
      if (this.trace) this.say(task, state === 'done' ? `is done: ${inShort(task.value)}` : `failed: ${inShort(task.error)}`);
    };
    this.parked.push({
      task,
      at: 'starts',
      wakeAt: 0,
      isReady: undefined,
      resume: () =>
        void work().then(
          (value) => settle('done', { value }),
          (error: unknown) => settle('failed', { error }),
        ),
    });
    return task;
  }

  /** Everything that runs in it stops where it is, for ever. */
  crash(process: Process): void {
    for (const task of this.tasks) {
      if (task.process !== process || task.state !== 'running') continue;
      task.state = 'crashed';
      if (this.trace) this.say(task, 'crashed');
      for (const tell of this.crashed) tell(task);
    }
    this.parked = this.parked.filter(({ task }) => task.state === 'running');
  }

  /** Until nobody has anything left to do. */
  async run(): Promise<void> {
    for (;;) {
      this.current = undefined;
      if (this.parked.length === 0) return;
      this.steps += 1;
      if (this.steps > MOST_STEPS) throw new Error(`no end after ${MOST_STEPS} steps: ${this.whereAll()}`);
      if (this.random.chance(this.clockRate)) this.moveClock();
      // Until it stops again. Through the event loop this took three times as long.
      await new Promise<void>((stopped) => {
        this.stopped = stopped;
        this.goOn(this.next());
      });
    }
  }

  say(task: Task | undefined, what: string): void {
    this.trace?.(
      `${String(this.nowMs - this.startedMs).padStart(6)} ms  ${(task?.process?.name ?? '-').padEnd(3)} ${task?.name ?? 'world'}: ${what}`,
    );
  }

  private park(at: string, wakeAt: number, isReady?: () => boolean): Promise<void> {
    const task = this.current;
    if (!task) throw new Error(`nobody is running, so nobody can stop at "${at}"`);
    this.stopped();
    const { process } = task;
    if (process?.diesAfter !== undefined && process.diesAfter <= process.steps) {
      this.crash(process);
      return new Promise(() => undefined);
    }
    return new Promise((resume) => this.parked.push({ task, at, wakeAt, isReady, resume }));
  }

  private goOn(chosen: Parked): void {
    const { task, at, resume } = chosen;
    this.parked.splice(this.parked.indexOf(chosen), 1);
    this.fingerprint = Math.imul(this.fingerprint ^ (this.tasks.indexOf(task) + 1), 0x01000193) >>> 0;
    task.steps += 1;
    if (task.process) task.process.steps += 1;
    this.last = task;
    this.current = task;
    if (this.trace && at !== 'sleeps') this.say(task, at);
    // Of several things it waits for, this one may be over without its waiting for anything new.
    if (this.parked.some((other) => other.task === task)) setImmediate(this.stopped);
    resume();
  }

  private next(): Parked {
    // What a task asks for together is done in that order.
    const first = new Map<Task, Parked>();
    for (const one of this.parked) if (!first.has(one.task)) first.set(one.task, one);
    const waiting = [...first.values()];
    for (;;) {
      const ready = waiting.filter((one) => this.isReady(one));
      const again = ready.length > 1 ? ready.find(({ task }) => task === this.last) : undefined;
      if (again && this.random.chance(this.stickiness)) return again;
      if (ready.length > 0) return this.random.pick(ready);
      const soonest = Math.min(...waiting.map((one) => this.readyAt(one)));
      if (soonest === NEVER) throw new Error(`everybody waits for somebody: ${this.whereAll()}`);
      this.nowMs = Math.max(this.nowMs, soonest);
    }
  }

  private isReady({ task, wakeAt, isReady }: Parked): boolean {
    if (task.process && task.process.frozenUntil > this.nowMs) return false;
    return wakeAt <= this.nowMs || (isReady?.() ?? false);
  }

  private readyAt({ task, wakeAt, isReady }: Parked): number {
    const thawedAt = task.process?.frozenUntil ?? 0;
    return Math.max(thawedAt, isReady?.() ? 0 : wakeAt);
  }

  private moveClock(): void {
    this.moments = this.moments.filter((ms) => ms > this.nowMs);
    const soonest = Math.min(...this.moments);
    const way = this.random.int(6);
    if (way < 3 && soonest < NEVER) this.nowMs = Math.max(this.nowMs, soonest - (way === 0 ? 1 : 0));
    else this.nowMs += way < 5 ? 1 : this.random.between(2, 200);
  }

  private whereAll(): string {
    return this.parked.map(({ task, at }) => `${task.name} at "${at}"`).join(', ');
  }
}

function inShort(value: unknown): string {
  if (value instanceof Error) return `${(value as { code?: string }).code ?? value.name} ${value.message}`;
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
