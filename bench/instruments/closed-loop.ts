import { setImmediate as turn } from 'node:timers/promises';

export interface LoopResult {
  /** What was done before the time was up, by which the rate goes; a straggler must not make it longer. */
  readonly inTime: number;
  /** Where it is too short for every caller to be answered once, it reaches to the last answer, and `inTime` is all there was. */
  readonly seconds: number;
  /** All that was done, with what was still under way when the time was up. */
  readonly done: number;
  readonly latenciesMs: Float64Array;
  /** What was refused, by code. */
  readonly refusals: Readonly<Record<string, number>>;
}

/** One act of one caller: nothing when it was done, the code when it was refused. */
export type Act = (caller: number) => Promise<string | undefined>;

/** So many callers, each beginning anew the moment it has its answer, until the time is up or `stop` says so. */
export class ClosedLoop {
  readonly #act: Act;
  readonly #latencies: number[] = [];
  readonly #refusals: Record<string, number> = {};
  readonly #onDone: () => unknown;
  #startedAt = 0;
  #endsAt = 0;
  #inTime = 0;

  constructor(act: Act, onDone: () => unknown = () => undefined) {
    this.#act = act;
    this.#onDone = onDone;
  }

  async run(callers: number, seconds: number): Promise<LoopResult> {
    this.#startedAt = performance.now();
    this.#endsAt = this.#startedAt + seconds * 1000;
    await Promise.all(Array.from({ length: callers }, (_, caller) => this.#call(caller)));
    const done = this.#latencies.length;
    const isSlow = this.#inTime < callers;
    const until = isSlow ? performance.now() : this.#endsAt;
    return {
      inTime: isSlow ? done : this.#inTime,
      seconds: (until - this.#startedAt) / 1000,
      done,
      latenciesMs: Float64Array.from(this.#latencies),
      refusals: this.#refusals,
    };
  }

  /** Nobody begins anew. */
  stop(): void {
    this.#endsAt = Math.min(this.#endsAt, performance.now());
  }

  async #call(caller: number): Promise<void> {
    for (let from = performance.now(); from < this.#endsAt; from = performance.now()) {
      const refusal = await this.#act(caller);
      const to = performance.now();
      if (refusal !== undefined) {
        this.#refusals[refusal] = (this.#refusals[refusal] ?? 0) + 1;
        // A refusal that needs no waiting must not keep the others from their turn.
        await turn();
        continue;
      }
      this.#latencies.push(to - from);
      if (to <= this.#endsAt) this.#inTime += 1;
      this.#onDone();
    }
  }
}
