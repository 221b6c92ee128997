import { HeldBack, Hopeless } from '#platform/jobs/job-outcomes';
import type { SendClaims } from '#platform/postgres/send-claims';
import type { ProviderLimiter, Pass } from '#platform/sending/provider-limiter';
import { isTrouble, NoAnswer, Refused, TooFast } from '#platform/sending/send-errors';
import { Mails, type Delivered, type MailProvider, type OutgoingMail } from '../application/ports.ts';

/** Another worker has it in hand: by then it has finished, or its claim is old enough to be taken over. */
const REFRESH_AFTER_MS = 10_000;

/**
 * Mails through a provider outside:
 *
 *   gate ──▶ claim ──▶ send ──▶ finish
 *                        ├─ certainly not sent ──▶ release: the next send is no duplicate
 *                        └─ nobody knows ────────▶ claim stays: sent again once, and counted as a possible duplicate
 */
export class ProvidedMails extends Mails {
  constructor(
    private readonly provider: MailProvider,
    private readonly claims: SendClaims,
    private readonly gate: ProviderLimiter,
  ) {
    super();
  }

  async send(mail: OutgoingMail): Promise<Delivered> {
    // Mails have one lane: nothing is kept back for others.
    const pass = await this.gate.enter(1, 'urgent');
    const claim = await this.claims.claim(mail.messageId).catch(async (error: unknown) => {
      await pass.leave({});
      throw error;
    });
    if (claim.kind !== 'claimed') await pass.leave({});
    if (claim.kind === 'finished') return 'duplicate';
    if (claim.kind === 'held') throw new HeldBack('job', REFRESH_AFTER_MS, 'another worker is sending it');
    if (claim.kind === 'uncertain')
      throw new Hopeless('sent twice without an answer: whether it arrived is for people to find out');
    try {
      await this.provider.send(mail);
    } catch (error) {
      throw await this.afterFailure(error, mail, claim.token, pass);
    }
    await pass.leave({ answered: 1 });
    this.claims.finish(mail.messageId);
    return 'sent';
  }

  override settled(): Promise<void> {
    return this.claims.settled();
  }

  private async afterFailure(error: unknown, { messageId }: OutgoingMail, token: string, pass: Pass): Promise<unknown> {
    const isDown = await pass.leave(
      error instanceof TooFast
        ? { tooFast: { calls: 1, forMs: error.forMs } }
        : isTrouble(error)
          ? { failed: 1 }
          : { answered: 1 },
    );
    if (!(error instanceof NoAnswer)) await this.claims.release(messageId, token);
    if (error instanceof Refused) return new Hopeless(error.message);
    if (error instanceof TooFast) return new HeldBack('queue', error.forMs, error.message);
    // With the breaker open a failure is nobody's attempt; the queue looks again when the next try is due.
    return isDown && error instanceof Error ? new HeldBack('queue', 1000, error.message) : error;
  }
}
