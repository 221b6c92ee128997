import { HeldBack } from '../jobs/job-outcomes.ts';
import { failureOf, post, type ProviderAnswer, type ProviderRequest } from './post-to-provider.ts';
import { LimiterUnavailable, type ProviderLimiter, type CallPermit } from './provider-limiter.ts';
import { NotSent, outcomeOf, RateLimited } from './send-errors.ts';

/**
 * Makes HTTP calls of background jobs to an external provider. They use the same limiter as mails and pushes, so that
 * simultaneous jobs of all processes stay within the provider's rate limit. While the rate limit is reached or the provider is
 * down, only the job that makes the call is held back, without losing an attempt: other jobs of its queue do not need this
 * provider.
 */
export class ProviderCalls {
  constructor(private readonly limiter: ProviderLimiter) {}

  /** Sends one POST. Throws unless the answer is 2xx. */
  async post(request: ProviderRequest): Promise<ProviderAnswer> {
    const permit = await this.permit();
    try {
      const answer = await post(request);
      const reason = `answered ${answer.status}`;
      if (answer.status >= 300) throw failureOf(answer, reason) ?? new NotSent(reason);
      await permit.leave({ answered: 1 });
      return answer;
    } catch (error) {
      await permit.leave(outcomeOf(error));
      throw error instanceof RateLimited ? new HeldBack('job', error.forMs, error.message) : error;
    }
  }

  private async permit(): Promise<CallPermit> {
    try {
      return await this.limiter.enter(1, 'urgent');
    } catch (error) {
      // When Redis is unavailable the call is made without a limit, because it may be the alert about Redis.
      if (error instanceof LimiterUnavailable) return { calls: 1, leave: () => Promise.resolve(false) };
      throw error instanceof HeldBack ? new HeldBack('job', error.forMs, error.message) : error;
    }
  }
}
