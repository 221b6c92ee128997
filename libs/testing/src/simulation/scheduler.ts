import { SeededRandom } from './seeded-random.ts';

/*
 * Runs many tasks, one at a time. A task runs until a point where in production another task could run: it sends a statement,
 * or waits for a lock or for an answer. At this point the task is parked, and the seeded random generator chooses the next task.
 *
 *   running ──step, sleep, until──▶ parked ──ready and chosen──▶ running ──returned──▶ done
 *                                     │                              └──threw──▶ failed
 *                                     └──its process crashed──▶ crashed: never continues
 *
 * The clock moves only when the random generator moves it. It often stops exactly at a moment when something expires, or 1 ms
 * before.
 */

/** A simulated replica of the monolith. When it dies, its tasks end. */
export interface Process {
  readonly name: string;
  /**
   * Until this time the tasks of this process do not continue (SIGSTOP, a long garbage collection). The process keeps locks and
   * memory.
   */
  frozenUntil: number;
  /** How many steps the tasks of this process have done. */
  steps: number;
  /** The process dies at the end of the step with this number. */
  diesAfterSteps?: number;
}

/** One asynchronous function that the scheduler runs step by step, such as a request. */
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
  /** What the task waits for, as a text for traces. */
  readonly at: string;
  /** When the task continues; with `isReady`, when it continues at the latest. */
  readonly wakeAt: number;
  readonly isReady: (() => boolean) | undefined;
  readonly resume: () => void;
}

/** A run of the purchase simulation takes a few hundred steps. A run with more steps than this is in an endless loop. */
const MAX_STEPS = 20_000;
const NEVER = Number.POSITIVE_INFINITY;

/** Runs tasks in a random order that depends only on the seed, on a simulated clock. */
export class Scheduler {
  readonly random: SeededRandom;
  nowMs = Date.UTC(2026, 0, 1);
  steps = 0;
  /** A hash of the order of all steps: two runs with the same fingerprint had the same order. */
  fingerprint = 0x811c9dc5;
  current: Task | undefined;
  /** Functions to call for each task that ended because its process died. */
  readonly crashed: ((task: Task) => void)[] = [];
  private readonly startedMs = this.nowMs;
  private readonly tasks: Task[] = [];
  private parked: Parked[] = [];
  private moments: number[] = [];
  private ids = 100;
  private last: Task | undefined;
  private onParked: () => void = () => undefined;
  /**
   * The probability that the task of the last step continues. It depends on the seed, because different values find different
   * faults.
   */
  private readonly stickiness: number;
  /** The probability that the clock moves before a step. */
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

  /** Returns ids like "r117". They are the same in every run of a seed. */
  newId(prefix: string): string {
    this.ids += 1;
    return `${prefix}${this.ids}`;
  }

  /** Parks the running task, so that other tasks may run before it continues. `at` names the point in traces. */
  step(at: string): Promise<void> {
    return this.park(at, 0);
  }

  sleep(ms: number): Promise<void> {
    return this.park('sleeps', this.nowMs + ms);
  }

  sleepUntil(ms: number): Promise<void> {
    return this.park('sleeps', ms);
  }

  /** Waits until `isReady` is true, at most until `latestMs`. */
  until(at: string, isReady: () => boolean, latestMs = NEVER): Promise<void> {
    return this.park(at, latestMs, isReady);
  }

  async finished(task: Task): Promise<Task> {
    if (task.state === 'running') await this.until(`waits for ${task.name}`, () => task.state !== 'running');
    return task;
  }

  /** Registers the time of an expiry, so that the simulated clock often stops exactly at this time or 1 ms before. */
  registerExpiry(ms: number): void {
    if (!this.moments.includes(ms)) this.moments.push(ms);
  }

  /** The time of the next registered expiry; the current time if none is registered. */
  nextExpiry(): number {
    const soonest = Math.min(...this.moments.filter((ms) => ms > this.nowMs));
    return soonest === NEVER ? this.nowMs : soonest;
  }

  spawn(name: string, process: Process | undefined, work: () => Promise<unknown>): Task {
    const task: Task = { name, process, state: 'running', steps: 0 };
    this.tasks.push(task);
    const settle = (state: 'done' | 'failed', outcome: { value?: unknown; error?: unknown }): void => {
      if (task.state !== 'running') return;
      Object.assign(task, { state, ...outcome });
      this.onParked();
      if (this.trace) this.say(task, state === 'done' ? `is done: ${shorten(task.value)}` : `failed: ${shorten(task.error)}`);
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

  /** Kills a process: its running tasks end at the point that they have reached. */
  crash(process: Process): void {
    for (const task of this.tasks) {
      if (task.process !== process || task.state !== 'running') continue;
      task.state = 'crashed';
      if (this.trace) this.say(task, 'crashed');
      for (const notify of this.crashed) notify(task);
    }
    this.parked = this.parked.filter(({ task }) => task.state === 'running');
  }

  /** Runs until all tasks have ended. */
  async run(): Promise<void> {
    for (;;) {
      this.current = undefined;
      if (this.parked.length === 0) return;
      this.steps += 1;
      if (this.steps > MAX_STEPS) throw new Error(`no end after ${MAX_STEPS} steps: ${this.describeParked()}`);
      if (this.random.chance(this.clockRate)) this.moveClock();
      // Wait until the task is parked again or ends. Waiting with setImmediate instead took three times as long.
      await new Promise<void>((onParked) => {
        this.onParked = onParked;
        this.resume(this.next());
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
    if (!task) throw new Error(`no task is running, so none can wait at "${at}"`);
    this.onParked();
    const { process } = task;
    if (process?.diesAfterSteps !== undefined && process.diesAfterSteps <= process.steps) {
      this.crash(process);
      return new Promise(() => undefined);
    }
    return new Promise((resume) => this.parked.push({ task, at, wakeAt, isReady, resume }));
  }

  private resume(chosen: Parked): void {
    const { task, at, resume } = chosen;
    this.parked.splice(this.parked.indexOf(chosen), 1);
    this.fingerprint = Math.imul(this.fingerprint ^ (this.tasks.indexOf(task) + 1), 0x01000193) >>> 0;
    task.steps += 1;
    if (task.process) task.process.steps += 1;
    this.last = task;
    this.current = task;
    if (this.trace && at !== 'sleeps') this.say(task, at);
    // A task that waits for several promises at once (Promise.all) may not park again after this one has resolved.
    if (this.parked.some((other) => other.task === task)) setImmediate(this.onParked);
    resume();
  }

  private next(): Parked {
    // If a task started several operations at once, they run in the order of their start.
    const first = new Map<Task, Parked>();
    for (const parked of this.parked) if (!first.has(parked.task)) first.set(parked.task, parked);
    const waiting = [...first.values()];
    for (;;) {
      const ready = waiting.filter((parked) => this.isReady(parked));
      const same = ready.length > 1 ? ready.find(({ task }) => task === this.last) : undefined;
      if (same && this.random.chance(this.stickiness)) return same;
      if (ready.length > 0) return this.random.pick(ready);
      const soonest = Math.min(...waiting.map((parked) => this.readyAt(parked)));
      if (soonest === NEVER) throw new Error(`deadlock: all tasks wait for each other: ${this.describeParked()}`);
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
    const choice = this.random.int(6);
    if (choice < 3 && soonest < NEVER) this.nowMs = Math.max(this.nowMs, soonest - (choice === 0 ? 1 : 0));
    else this.nowMs += choice < 5 ? 1 : this.random.between(2, 200);
  }

  private describeParked(): string {
    return this.parked.map(({ task, at }) => `${task.name} at "${at}"`).join(', ');
  }
}

function shorten(value: unknown): string {
  if (value instanceof Error) return `${(value as { code?: string }).code ?? value.name} ${value.message}`;
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
