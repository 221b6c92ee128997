import type { Transaction } from '#application/transaction-manager';
import { writePush, type PushContent, type PushText } from '#domain/notification/push-templates';
import type { Announcements, Locale } from '../../fans/fans.api.ts';
import { MatchPushes, type HolderNotice, type PushedTo } from '../application/ports.ts';

/** The same news for the lock screen: one broadcast, whose jobs carry 500 devices each. Worthless after the kick-off, but for a cancellation. */
export class BroadcastMatchPushes extends MatchPushes {
  constructor(private readonly announcements: Announcements) {
    super();
  }

  devicesOf(userIds: readonly string[]): Promise<PushedTo> {
    return this.announcements.devicesOf(userIds);
  }

  async send(tx: Transaction, notice: HolderNotice, devices: PushedTo): Promise<void> {
    const { match } = notice;
    const content = contentOf(notice);
    const text = (locale: Locale): PushText => writePush(content, locale);
    await this.announcements.announce(tx, {
      template: content.template,
      event: noticeEvents[notice.kind],
      devices,
      texts: { hr: text('hr'), en: text('en') },
      data: { match_id: match.id, action: 'open_tickets' },
      ...(notice.kind === 'cancelled' ? {} : { usefulUntil: match.kickoffAt }),
    });
  }
}

/** What the relay calls them, mail or push. */
export const noticeEvents = { moved: 'match.changed', cancelled: 'match.cancelled', 'coming up': 'match.coming_up' } as const;

function contentOf({ kind, match }: HolderNotice): Extract<PushContent, { template: 'match_changed' | 'match_reminder' }> {
  if (kind === 'cancelled') return { template: 'match_changed', change: 'cancelled', match_name: match.name };
  const facts = { match_name: match.name, kickoff_at: match.kickoffAt.toISOString(), venue: match.venue };
  return kind === 'moved' ? { template: 'match_changed', change: 'moved', ...facts } : { template: 'match_reminder', ...facts };
}
