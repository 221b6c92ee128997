import { DomainError } from '#domain/shared/domain-error';
import type { Task } from '#testing/simulation/scheduler';
import { HOLD_MS, type Replica, type SimulatedSystem } from './replicas.ts';

/** The answer to a request: a value, or the code of a refusal. */
export type Answer<T> = { readonly value: T } | { readonly refusal: string };

/** Codes of temporary refusals: the same idempotency key may get another answer later. All other answers to a key are final. */
const TEMPORARY_REFUSALS = new Set(['LOCK_TIMEOUT', 'SEATS_BUSY', 'PAYMENT_REFUSED']);
export const MAX_ATTEMPTS = 6;

/** Somebody who sends requests with idempotency keys: a fan, an operator or a partner. */
export class Caller {
  private sent = 0;

  constructor(
    protected readonly system: SimulatedSystem,
    readonly userId: string,
    protected readonly report: (fault: string) => void,
  ) {}

  /**
   * Sends a request with a new idempotency key. If its process dies, or at random, the caller sends the request again to any process, even
   * while the first copy is still running. All answers must be equal.
   */
  protected async call<T, R>(
    action: string,
    work: (replica: Replica, key: string) => Promise<R>,
    render: (result: R) => T,
  ): Promise<Answer<T>> {
    const { scheduler } = this.system;
    this.sent += 1;
    const key = `${this.userId}-k${this.sent}`;
    const answers = new Set<string>();
    const send = (): Task => {
      const replica = this.system.anyReplica();
      const currentKey = { key, userId: this.userId, render: render as (result: never) => unknown };
      return scheduler.spawn(`${this.userId} ${action} (${key})`, replica, () =>
        this.system.answer(currentKey, () => work(replica, key)),
      );
    };
    let last: Answer<T> = { refusal: 'no answer' };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const earlierAnswers = [...answers];
      const copies = scheduler.random.chance(0.15) ? [send(), send()] : [send()];
      for (const copy of copies) {
        await scheduler.finished(copy);
        if (copy.state === 'crashed') continue;
        last = copy.state === 'done' ? { value: copy.value as T } : { refusal: this.refusalOf(copy) };
        if ('value' in last) answers.add(JSON.stringify(last.value));
        else if (earlierAnswers.length > 0 && !TEMPORARY_REFUSALS.has(last.refusal))
          this.report(`I5: ${key} was answered ${earlierAnswers.join()}, then ${last.refusal}`);
        if ('value' in last && copies.length > 1) break;
      }
      if (answers.size > 1) this.report(`I5: ${key} was answered ${[...answers].join(' and ')}`);
      if (
        'value' in last ? !scheduler.random.chance(0.05) : last.refusal !== 'no answer' && !TEMPORARY_REFUSALS.has(last.refusal)
      )
        break;
      // The answer was lost. The caller sends the request again, sometimes only after a pause without a network.
      if ('value' in last && scheduler.random.chance(0.5)) await scheduler.sleep(scheduler.random.int(2 * HOLD_MS));
    }
    return last;
  }

  /** The code of a refusal. Any other error is a fault of the simulated system and is reported. */
  protected refusalOf({ error, name }: Task): string {
    if (error instanceof DomainError) return error.code;
    this.report(`I13: ${name}: ${String(error)}`);
    return 'INTERNAL_ERROR';
  }

  protected inBackground(action: string, work: () => Promise<void>): Task {
    return this.system.scheduler.spawn(`${this.userId} ${action}`, undefined, work);
  }

  protected expectDone({ state, name, error }: Task): void {
    if (state !== 'done')
      this.report(`fault in the simulation: ${name} ${state}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
