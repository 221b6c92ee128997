import { HeldBack } from '../jobs/job-outcomes.ts';
import { post, type HttpAnswer, type HttpRequest } from './http-call.ts';
import { UncountedHere, type CallsEnded, type ProviderLimiter, type Pass } from './provider-limiter.ts';
import { isTrouble, NotSent, ProviderDown, TooFast } from './send-errors.ts';

/** When a 429 does not say how long. */
const PAUSE_MS = 1000;

/**
 * How background jobs call somebody outside: through the same door as mails and pushes, so that the jobs of one moment, in
 * whatever processes, are spread over what the vendor takes. A job whose turn has not come, or whose vendor is down, is held
 * back by itself and loses no attempt: there are others in its queue that want nothing from that vendor.
 */
export class VendorCalls {
  constructor(private readonly gate: ProviderLimiter) {}

  /** One POST. Throws unless the answer is a 2xx. */
  async post(request: HttpRequest): Promise<HttpAnswer> {
    const pass = await this.pass();
    try {
      const answer = await post(request);
      judge(answer);
      await pass.leave({ answered: 1 });
      return answer;
    } catch (error) {
      await pass.leave(endedBy(error));
      throw error instanceof TooFast ? new HeldBack('job', error.forMs, error.message) : error;
    }
  }

  private async pass(): Promise<Pass> {
    try {
      return await this.gate.enter(1, 'urgent');
    } catch (error) {
      // Redis, which keeps the count, is away: operators are to hear of just that.
      if (error instanceof UncountedHere) return { calls: 1, leave: () => Promise.resolve(false) };
      throw error instanceof HeldBack ? new HeldBack('job', error.forMs, error.message) : error;
    }
  }
}

function judge({ status, retryAfterMs }: HttpAnswer): void {
  const what = `answered ${status}`;
  if (status === 429) throw new TooFast(retryAfterMs ?? PAUSE_MS, what);
  if (status >= 500) throw new ProviderDown(what);
  if (status >= 300) throw new NotSent(what);
}

function endedBy(error: unknown): CallsEnded {
  if (error instanceof TooFast) return { tooFast: { calls: 1, forMs: error.forMs } };
  return isTrouble(error) ? { failed: 1 } : { answered: 1 };
}
