import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { FansApi, Locale } from '../fans/fans.api.ts';
import type { Holder, HolderNotice } from './holder-pages.ts';
import { matchName, noticeEvents } from './match-pushes.ts';

/**
 * Writes one mail to the outbox for each holder with an address, in the holder's language. The mails are sent only if the
 * transaction commits.
 */
export class MatchMails {
  constructor(
    private readonly fans: FansApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async send(tx: Transaction, notice: HolderNotice, holders: readonly Holder[]): Promise<void> {
    const userIds = holders.map(({ userId }) => userId);
    const contacts = await this.fans.contacts(tx, userIds);
    const mails = holders.flatMap((holder) => {
      const contact = contacts.get(holder.userId);
      const recipient = holder.orderEmail ?? contact?.email;
      return recipient ? [this.mail(notice, holder, { recipient, locale: contact?.locale ?? 'hr' })] : [];
    });
    await this.outbox.append(tx, mails);
  }

  private mail(
    notice: HolderNotice,
    holder: Holder,
    { recipient, locale }: { recipient: string; locale: Locale },
  ): OutboxMessage {
    const id = this.ids.next();
    const { kind, match } = notice;
    const { template, ...payload } = contentOf(notice, holder);
    const kickoff_at = match.kickoffAt.toISOString();
    const body = {
      job_id: id,
      created_at: this.clock.now().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'email',
      template,
      payload: { match_name: matchName(match), kickoff_at, venue: match.venue, locale, ...payload },
      recipient,
      user_id: holder.userId,
      // A cancellation is worth sending after the kick-off too; every other notice is dropped then.
      ...(kind === 'cancelled' ? {} : { useful_until: kickoff_at }),
      about: { match_id: match.id },
    };
    return { id, destination: 'email', event: noticeEvents[kind], body };
  }
}

/** The template of the mail, and what its payload has besides the facts of the match. */
function contentOf(notice: HolderNotice, { seats }: Holder): { template: string } & Record<string, unknown> {
  const { kind, match } = notice;
  if (kind === 'coming up') {
    const tickets = seats.map(({ sector, row, number }) => ({ sector, row, seat: number === null ? null : String(number) }));
    return { template: 'match_reminder', tickets };
  }
  const [previous_kickoff_at, previous_venue] =
    kind === 'moved' ? [notice.previousKickoffAt, notice.previousVenue] : [match.kickoffAt.toISOString(), match.venue];
  const why = kind === 'cancelled' && match.cancelReason ? { reason: match.cancelReason } : {};
  return { template: 'match_changed', change: kind, previous_kickoff_at, previous_venue, ...why };
}
