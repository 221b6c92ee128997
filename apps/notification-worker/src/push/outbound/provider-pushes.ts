import { HeldBack } from '#messaging/jobs/job-outcomes';
import { withLedgerDeadline } from '#messaging/sending/ledger-deadline';
import type { CallOutcomes, ProviderLimiter } from '#messaging/sending/provider-limiter';
import { Pushes, type SendOutcome, type DeviceResult, type OutgoingPush, type PushProvider } from '../application/ports.ts';
import type { Progress, PushLedger } from './push-ledger.ts';

/** The delay of a job whose push another worker is sending. */
const RETRY_AFTER_MS = 10_000;
/**
 * The number of devices of one group. A larger group means more possible duplicates after a worker is killed, and a longer wait
 * for urgent pushes.
 */
const DEFAULT_CALLS_AT_ONCE = 100;

/**
 * Sends pushes through an external provider in groups of devices. The result of a group is stored before the next group starts.
 */
export class ProviderPushes extends Pushes {
  private isStopping = false;

  constructor(
    private readonly provider: PushProvider,
    private readonly ledger: PushLedger,
    private readonly limiter: ProviderLimiter,
    private readonly callsAtOnce = DEFAULT_CALLS_AT_ONCE,
  ) {
    super();
  }

  async send(push: OutgoingPush): Promise<SendOutcome> {
    const { messageId, broadcastId, tokens } = push;
    const claim = await withLedgerDeadline(() => this.ledger.claim(messageId, tokens.length, broadcastId));
    if (claim.kind === 'finished') return { outcome: 'duplicate' };
    if (claim.kind === 'held') throw new HeldBack('job', RETRY_AFTER_MS, 'another worker is sending it');
    const run = new PushRun(push, claim.done);
    const failure = await this.sendGroups(run, claim.holder).catch((error: unknown) => error);
    const isFinished = run.remaining.length === 0;
    this.ledger.countPossibleDuplicates(run.unanswered);
    await withLedgerDeadline(() =>
      this.ledger.recordProgress(messageId, claim.holder, run.takeProgress(), isFinished ? 'finish' : 'release'),
    );
    if (isFinished) return { outcome: 'sent', devices: run.sent };
    throw failure ?? new Error(`${run.remaining.length} of ${tokens.length} devices not reached: ${run.reason}`);
  }

  override stop(): void {
    this.isStopping = true;
  }

  /**
   * Sends once to all remaining devices, group by group. Throws HeldBack before the end if the provider is down or asks for a
   * pause, if this worker stops, or if another worker has taken over the job.
   */
  private async sendGroups(run: PushRun, holder: string): Promise<void> {
    const { messageId, urgent } = run.push;
    for (let todo = [...run.remaining]; todo.length > 0;) {
      if (this.isStopping) throw new HeldBack('queue', 1000, 'stopping');
      const permit = await this.limiter.enter(Math.min(todo.length, this.callsAtOnce), urgent ? 'urgent' : 'bulk');
      const group = todo.slice(0, permit.calls);
      todo = todo.slice(permit.calls);
      const results = await this.provider.send({ ...run.push, tokens: group.map((index) => run.push.tokens[index] ?? '') });
      const summary = run.addResults(group, results);
      const isDown = await permit.leave(summary);
      if (summary.rateLimited) throw new HeldBack('queue', summary.rateLimited.forMs, 'the provider asked for a pause');
      if (isDown) throw new HeldBack('queue', 1000, `the provider is down: ${run.reason}`);
      if (todo.length === 0) return;
      const isOurs = await withLedgerDeadline(() =>
        this.ledger.recordProgress(messageId, holder, run.takeProgress(), 'continue'),
      );
      if (!isOurs) throw new HeldBack('job', RETRY_AFTER_MS, 'taken over by another worker');
    }
  }
}

/** The results of one job's devices while this worker sends to them. Devices are indexes into `push.tokens`. */
class PushRun {
  remaining: number[];
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
    this.remaining = push.tokens.map((_, index) => index).filter((index) => !done.has(index));
  }

  /** Adds the results of a group. Returns the counts that the provider's rate limiter and breaker need. */
  addResults(group: readonly number[], results: readonly DeviceResult[]): CallOutcomes {
    const settled = new Set<number>();
    let failed = 0;
    let rateLimited: CallOutcomes['rateLimited'];
    group.forEach((index, at) => {
      const result = results[at] ?? { kind: 'unanswered', reason: 'no result' };
      if (result.kind === 'too fast')
        rateLimited = { calls: (rateLimited?.calls ?? 0) + 1, forMs: Math.max(rateLimited?.forMs ?? 0, result.forMs) };
      if (result.kind === 'unanswered' || result.kind === 'provider down') failed += 1;
      if (result.kind === 'unanswered') this.unanswered += 1;
      if ('reason' in result) this.reason = result.reason;
      if (result.kind === 'sent') this.sent += 1;
      if (result.kind === 'dead') this.deadTokens.push(this.push.tokens[index] ?? '');
      if (result.kind === 'refused') this.refused += 1;
      if (result.kind === 'sent' || result.kind === 'dead' || result.kind === 'refused') settled.add(index);
    });
    this.done.push(...settled);
    this.remaining = this.remaining.filter((index) => !settled.has(index));
    return { answered: group.length - failed - (rateLimited?.calls ?? 0), failed, rateLimited };
  }

  /** Returns the progress since the last call and resets it. */
  takeProgress(): Progress {
    const progress = { done: this.done, deadTokens: this.deadTokens, refused: this.refused };
    [this.done, this.deadTokens, this.refused] = [[], [], 0];
    return progress;
  }
}
