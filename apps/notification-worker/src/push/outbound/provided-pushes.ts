import { HeldBack } from '#platform/jobs/job-outcomes';
import { outsideTheJobsDeadline } from '#platform/sending/ledger-deadline';
import type { ProviderLimiter } from '#platform/sending/provider-limiter';
import { Pushes, type Delivered, type DeviceResult, type OutgoingPush, type PushProvider } from '../application/ports.ts';
import type { Progress, PushLedger } from './push-ledger.ts';

/** Another worker has it in hand. */
const REFRESH_AFTER_MS = 10_000;
/** Calls asked for at a time: what a killed worker leaves in doubt, and how long urgent pushes may find the line busy. */
const CALLS_AT_ONCE = 100;

/** Pushes through a provider outside: group by group, each noted in the ledger before the next begins. */
export class ProvidedPushes extends Pushes {
  private isStopping = false;

  constructor(
    private readonly provider: PushProvider,
    private readonly ledger: PushLedger,
    private readonly gate: ProviderLimiter,
    private readonly callsAtOnce = CALLS_AT_ONCE,
  ) {
    super();
  }

  async send(push: OutgoingPush): Promise<Delivered> {
    const { messageId, broadcastId, tokens } = push;
    const claim = await outsideTheJobsDeadline(() => this.ledger.claim({ messageId, broadcastId, devices: tokens.length }));
    if (claim.kind === 'finished') return { outcome: 'duplicate' };
    if (claim.kind === 'held') throw new HeldBack('job', REFRESH_AFTER_MS, 'another worker is sending it');
    const run = new PushRun(push, claim.done);
    const trouble = await this.groups(run, claim.holder).catch((error: unknown) => error);
    const isFinished = run.left.length === 0;
    const then = isFinished ? 'finish' : 'release';
    this.ledger.inDoubt(run.unanswered);
    await outsideTheJobsDeadline(() => this.ledger.note(messageId, claim.holder, run.takeProgress(), then));
    if (isFinished) return { outcome: 'sent', devices: run.sent };
    throw trouble ?? new Error(`${run.left.length} of ${tokens.length} devices not reached: ${run.reason}`);
  }

  override stop(): void {
    this.isStopping = true;
  }

  /** Once through all that are left. Ends early, by throwing, when the provider is down or wants a pause. */
  private async groups(run: PushRun, holder: string): Promise<void> {
    const { messageId, urgent } = run.push;
    for (let todo = [...run.left]; todo.length > 0;) {
      if (this.isStopping) throw new HeldBack('queue', 1000, 'stopping');
      const pass = await this.gate.enter(Math.min(todo.length, this.callsAtOnce), urgent ? 'urgent' : 'bulk');
      const group = todo.slice(0, pass.calls);
      todo = todo.slice(pass.calls);
      const results = await this.provider.send({ ...run.push, tokens: group.map((index) => run.push.tokens[index] ?? '') });
      const ended = run.add(group, results);
      const isDown = await pass.leave(ended);
      if (ended.tooFast) throw new HeldBack('queue', ended.tooFast.forMs, 'the provider asked for a pause');
      if (isDown) throw new HeldBack('queue', 1000, `the provider is down: ${run.reason}`);
      if (todo.length === 0) return;
      const isOurs = await outsideTheJobsDeadline(() => this.ledger.note(messageId, holder, run.takeProgress(), 'go on'));
      if (!isOurs) throw new HeldBack('job', REFRESH_AFTER_MS, 'taken over by another worker');
    }
  }
}

/** What is known about one job's devices while it is in hand. */
class PushRun {
  left: number[];
  sent = 0;
  unanswered = 0;
  reason = '';
  private done: number[] = [];
  private deadTokens: string[] = [];
  private refused = 0;

  constructor(
    readonly push: OutgoingPush,
    done: ReadonlySet<number>,
  ) {
    this.left = push.tokens.map((_, index) => index).filter((index) => !done.has(index));
  }

  /** Takes a group's results in, and says what they mean for the door to the provider. */
  add(
    group: readonly number[],
    results: readonly DeviceResult[],
  ): { answered: number; failed: number; tooFast?: { calls: number; forMs: number } } {
    const settled = new Set<number>();
    let failed = 0;
    let tooFast: { calls: number; forMs: number } | undefined;
    group.forEach((index, at) => {
      const result = results[at] ?? { kind: 'unanswered', reason: 'no result' };
      if (result.kind === 'too fast')
        tooFast = { calls: (tooFast?.calls ?? 0) + 1, forMs: Math.max(tooFast?.forMs ?? 0, result.forMs) };
      if (result.kind === 'unanswered' || result.kind === 'provider down') failed += 1;
      if (result.kind === 'unanswered') this.unanswered += 1;
      if ('reason' in result) this.reason = result.reason;
      if (result.kind === 'sent') this.sent += 1;
      if (result.kind === 'dead') this.deadTokens.push(this.push.tokens[index] ?? '');
      if (result.kind === 'refused') this.refused += 1;
      if (result.kind === 'sent' || result.kind === 'dead' || result.kind === 'refused') settled.add(index);
    });
    this.done.push(...settled);
    this.left = this.left.filter((index) => !settled.has(index));
    return { answered: group.length - failed - (tooFast?.calls ?? 0), failed, ...(tooFast ? { tooFast } : {}) };
  }

  takeProgress(): Progress {
    const progress = { done: this.done, deadTokens: this.deadTokens, refused: this.refused };
    [this.done, this.deadTokens, this.refused] = [[], [], 0];
    return progress;
  }
}
