import { HeldBack, PermanentFailure } from '#messaging/jobs/job-outcomes';
import type { SendClaims } from '#messaging/inbox/send-claims';
import type { ProviderLimiter, CallPermit } from '#messaging/sending/provider-limiter';
import { NoAnswer, outcomeOf, Refused, RateLimited } from '#messaging/sending/send-errors';
import { Mails, type SendOutcome, type MailProvider, type OutgoingMail } from '../application/ports.ts';

/**
 * The delay of a job whose mail another worker is sending. After the delay the other worker has finished, or its claim can be
 * taken over.
 */
const RETRY_AFTER_MS = 10_000;

/**
 * Sends mails through an external provider:
 *
 *   draw files ──▶ rate limiter ──▶ claim ──▶ send ──▶ finish
 *                                               ├─ certainly not sent ──▶ release: the next send is no duplicate
 *                                               └─ outcome unknown ─────▶ claim stays: sent once more, and counted as a possible duplicate
 */
export class ProviderMails extends Mails {
  constructor(
    private readonly provider: MailProvider,
    private readonly claims: SendClaims,
    private readonly limiter: ProviderLimiter,
  ) {
    super();
  }

  async send({ attachments, ...texts }: OutgoingMail): Promise<SendOutcome> {
    // The files are drawn now, and a copy has their content. From `enter` on the call counts towards the limit: files that were drawn
    // then would cost several calls a second.
    const files = attachments?.().map((file) => ({ ...file }));
    const mail = files ? { ...texts, attachments: () => files } : texts;
    // All mails are `urgent`, so that they may use all calls that the rate limit allows.
    const permit = await this.limiter.enter(1, 'urgent');
    const claim = await this.claims.claim(mail.messageId).catch(async (error: unknown) => {
      await permit.leave({});
      throw error;
    });
    if (claim.kind !== 'claimed') await permit.leave({});
    if (claim.kind === 'finished') return 'duplicate';
    if (claim.kind === 'held') throw new HeldBack('job', RETRY_AFTER_MS, 'another worker is sending it');
    if (claim.kind === 'uncertain')
      throw new PermanentFailure('sent twice without an answer: people must check whether it arrived');
    try {
      await this.provider.send(mail);
    } catch (error) {
      throw await this.afterFailure(error, mail, claim.token, permit);
    }
    await permit.leave({ answered: 1 });
    this.claims.finish(mail.messageId);
    return 'sent';
  }

  override settled(): Promise<void> {
    return this.claims.settled();
  }

  override close(): void {
    this.provider.close();
  }

  private async afterFailure(error: unknown, { messageId }: OutgoingMail, token: string, permit: CallPermit): Promise<unknown> {
    const isDown = await permit.leave(outcomeOf(error));
    if (!(error instanceof NoAnswer)) await this.claims.release(messageId, token);
    if (error instanceof Refused) return new PermanentFailure(error.message);
    if (error instanceof RateLimited) return new HeldBack('queue', error.forMs, error.message);
    // While the provider is down (its breaker is open), HeldBack pauses the queue for a second, and the failure does not count as
    // an attempt of the job.
    return isDown && error instanceof Error ? new HeldBack('queue', 1000, error.message) : error;
  }
}
