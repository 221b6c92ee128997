/** Which connected fans of a match an update sends messages to. `near`: only those near the front of the line. `all`: every one. */
export type UpdateScope = 'near' | 'all';

/** One or more passes (calls of the work) for one key, one directly after the other. */
interface Run {
  /** The scope of the next pass. Undefined when no further pass was requested. */
  next: UpdateScope | undefined;
  /** Settles when the run is over: its final pass has ended, or a pass has failed. */
  done: Promise<void>;
}

/**
 * Runs work for many keys, but for each key only one pass (call of the work) at a time. Requests that arrive during a pass are
 * merged into one more pass.
 *
 *            request             request (any number)
 *     IDLE ───────────▶ RUNNING ─────────────────────▶ RUNNING, ONE MORE REQUESTED
 *      ▲                 │    ▲                             │
 *      └─────────────────┘    └─────────────────────────────┘
 *       pass done                pass done: start one more
 *
 * Guarantee: when the returned promise resolves, a complete pass has ended that started with the request or after it.
 * Several merged requests get the widest scope among them. Every pass of a run uses the `work` of the request that started the run.
 * When a pass fails, the run ends: all its requests are rejected, even those that were to be served by one more pass.
 */
export class CoalescedRuns {
  private readonly runs = new Map<string, Run>();

  request(key: string, work: (scope: UpdateScope) => Promise<void>, scope: UpdateScope = 'all'): Promise<void> {
    const running = this.runs.get(key);
    if (running) {
      if (running.next !== 'all') running.next = scope;
      return running.done;
    }
    const run: Run = { next: scope, done: Promise.resolve() };
    this.runs.set(key, run);
    run.done = this.pass(key, run, work);
    return run.done;
  }

  /** Resolves when all current runs are over. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.runs.values()].map(({ done }) => done));
  }

  private async pass(key: string, run: Run, work: (scope: UpdateScope) => Promise<void>): Promise<void> {
    try {
      while (run.next) {
        const scope = run.next;
        run.next = undefined;
        await work(scope);
      }
    } finally {
      this.runs.delete(key);
    }
  }
}
