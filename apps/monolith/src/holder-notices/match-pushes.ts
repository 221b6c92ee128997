import type { Transaction } from '#application/transaction-manager';
import { writePush, type PushContent, type PushText } from '#domain/notification/push-templates';
import type { DevicesByLocale, FanBroadcasts, Locale } from '../fans/fans.api.ts';
import type { HolderNotice } from './notice-matches.ts';

/**
 * Sends a notice to phones as one broadcast, in jobs of at most 500 devices. Except for a cancellation, the push is dropped after
 * the kick-off.
 */
export class MatchPushes {
  constructor(private readonly broadcasts: FanBroadcasts) {}

  /** Reads the devices of these fans. Call it before the transaction, because it reads many rows. */
  devicesOf(userIds: readonly string[]): Promise<DevicesByLocale> {
    return this.broadcasts.devicesOf(userIds);
  }

  async send(tx: Transaction, notice: HolderNotice, devices: DevicesByLocale): Promise<void> {
    const { match } = notice;
    const content = contentOf(notice);
    const text = (locale: Locale): PushText => writePush(content, locale);
    await this.broadcasts.create(tx, {
      template: content.template,
      event: noticeEvents[notice.kind],
      devices,
      texts: { hr: text('hr'), en: text('en') },
      data: { match_id: match.id, action: 'open_tickets' },
      ...(notice.kind === 'cancelled' ? {} : { usefulUntil: match.kickoffAt }),
    });
  }
}

/** The event name of each notice in the outbox, for mails and pushes. */
export const noticeEvents = { moved: 'match.changed', cancelled: 'match.cancelled', 'coming up': 'match.coming_up' } as const;

function contentOf({ kind, match }: HolderNotice): Extract<PushContent, { template: 'match_changed' | 'match_reminder' }> {
  if (kind === 'cancelled') return { template: 'match_changed', change: 'cancelled', match_name: match.name };
  const facts = { match_name: match.name, kickoff_at: match.kickoffAt.toISOString(), venue: match.venue };
  return kind === 'moved' ? { template: 'match_changed', change: 'moved', ...facts } : { template: 'match_reminder', ...facts };
}
