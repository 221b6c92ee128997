import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** What a ClosedLoop measured: the number, latencies and refusals of its operations. */
export interface LoopResult {
  /** Operations completed before the end time. Rates are computed from this number, so that a slow last operation does not lower them. */
  readonly doneInTime: number;
  /**
   * The measured time in seconds. If fewer operations than callers were completed before the end time, the measured time lasts until the
   * last answer, and `doneInTime` counts all operations.
   */
  readonly seconds: number;
  /** Number of all completed operations, including those that were still running at the end time. */
  readonly done: number;
  readonly latenciesMs: Float64Array;
  /** When each of these operations began, in milliseconds since the start of the run. */
  readonly startsMs: Float64Array;
  /** Number of refused operations by the code of the refusal. */
  readonly refusals: Readonly<Record<string, number>>;
}

/** One operation of one caller, such as a request. Resolves to undefined on success, or to the code of the refusal. */
export type Operation = (caller: number) => Promise<string | undefined>;

/**
 * Runs several callers at the same time. Each caller starts an operation as soon as its previous operation is answered, until the
 * end time or `stop`.
 */
export class ClosedLoop {
  readonly #operation: Operation;
  readonly #latencies: number[] = [];
  readonly #starts: number[] = [];
  readonly #refusals: Record<string, number> = {};
  readonly #onDone: () => unknown;
  #startedAt = 0;
  #endsAt = 0;
  #doneInTime = 0;

  constructor(operation: Operation, onDone: () => unknown = () => undefined) {
    this.#operation = operation;
    this.#onDone = onDone;
  }

  async run(callers: number, seconds: number): Promise<LoopResult> {
    this.#startedAt = performance.now();
    this.#endsAt = this.#startedAt + seconds * 1000;
    await Promise.all(Array.from({ length: callers }, (_, caller) => this.#call(caller)));
    const done = this.#latencies.length;
    const isSlow = this.#doneInTime < callers;
    const endedAt = isSlow ? performance.now() : this.#endsAt;
    return {
      doneInTime: isSlow ? done : this.#doneInTime,
      seconds: (endedAt - this.#startedAt) / 1000,
      done,
      latenciesMs: Float64Array.from(this.#latencies),
      startsMs: Float64Array.from(this.#starts),
      refusals: this.#refusals,
    };
  }

  /** Ends the run: no caller starts another operation. */
  stop(): void {
    this.#endsAt = Math.min(this.#endsAt, performance.now());
  }

  async #call(caller: number): Promise<void> {
    for (let from = performance.now(); from < this.#endsAt; from = performance.now()) {
      const refusal = await this.#operation(caller);
      const to = performance.now();
      if (refusal !== undefined) {
        this.#refusals[refusal] = (this.#refusals[refusal] ?? 0) + 1;
        // A refused operation may have done no I/O, so yield explicitly to let other callers run.
        await yieldToEventLoop();
        continue;
      }
      this.#latencies.push(to - from);
      this.#starts.push(from - this.#startedAt);
      if (to <= this.#endsAt) this.#doneInTime += 1;
      this.#onDone();
    }
  }
}
