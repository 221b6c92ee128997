import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { FansApi, Locale } from '../fans/fans.api.ts';
import { noticeEvents } from './match-pushes.ts';
import type { HolderNotice } from './notice-matches.ts';
import type { Holder } from './ticket-holders.ts';

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

  private mail(notice: HolderNotice, holder: Holder, to: { recipient: string; locale: Locale }): OutboxMessage {
    const id = this.ids.next();
    const { match } = notice;
    const envelope = { job_id: id, created_at: this.clock.now().toISOString(), attempts: 0, max_attempts: 3, type: 'email' };
    const facts = {
      match_name: match.name,
      kickoff_at: match.kickoffAt.toISOString(),
      venue: match.venue,
      locale: to.locale,
    };
    const content = contentOf(notice, holder, facts);
    // A cancellation is worth sending after the kick-off too; every other notice is dropped then.
    const validity = notice.kind === 'cancelled' ? {} : { useful_until: match.kickoffAt.toISOString() };
    return {
      id,
      destination: 'email',
      event: noticeEvents[notice.kind],
      body: {
        ...envelope,
        ...content,
        recipient: to.recipient,
        user_id: holder.userId,
        ...validity,
        about: { match_id: match.id },
      },
    };
  }
}

function contentOf(notice: HolderNotice, holder: Holder, facts: object): object {
  switch (notice.kind) {
    case 'moved': {
      const before = { previous_kickoff_at: notice.previousKickoffAt, previous_venue: notice.previousVenue };
      return { template: 'match_changed', payload: { ...facts, change: 'moved', ...before } };
    }
    case 'cancelled': {
      const { kickoffAt, venue, cancelReason } = notice.match;
      const planned = { previous_kickoff_at: kickoffAt.toISOString(), previous_venue: venue };
      const why = cancelReason ? { reason: cancelReason } : {};
      return { template: 'match_changed', payload: { ...facts, change: 'cancelled', ...planned, ...why } };
    }
    case 'coming up':
      return { template: 'match_reminder', payload: { ...facts, tickets: holder.seats.map(seatOf) } };
  }
}

function seatOf({ sector, row, number }: Holder['seats'][number]): { sector: string; row: string | null; seat: string | null } {
  return { sector, row, seat: number === null ? null : String(number) };
}
