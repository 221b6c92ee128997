import { writePush, type PushContent } from '#domain/notification/push-templates';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { DevicesByLocale, NewBroadcast } from '../fans/fans.api.ts';
import type { HolderNotice } from './holder-pages.ts';

/** The event name of each notice in the outbox, for mails and pushes. */
export const noticeEvents = { moved: 'match.changed', cancelled: 'match.cancelled', 'coming up': 'match.coming_up' } as const;

/** The name of a match in mails and pushes. */
export const matchName = ({ home, away }: CatalogMatch): string => `${home} vs ${away}`;

/**
 * The broadcast that sends a notice to phones, in jobs of at most 500 devices. Except for a cancellation, the push is dropped after
 * the kick-off.
 */
export function broadcastOf(notice: HolderNotice, devices: DevicesByLocale): NewBroadcast {
  const { kind, match } = notice;
  const content = contentOf(notice);
  return {
    template: content.template,
    event: noticeEvents[kind],
    devices,
    texts: { hr: writePush(content, 'hr'), en: writePush(content, 'en') },
    data: { match_id: match.id, action: 'open_tickets' },
    ...(kind === 'cancelled' ? {} : { usefulUntil: match.kickoffAt }),
  };
}

function contentOf({ kind, match }: HolderNotice): Extract<PushContent, { template: 'match_changed' | 'match_reminder' }> {
  const match_name = matchName(match);
  if (kind === 'cancelled') return { template: 'match_changed', change: 'cancelled', match_name };
  const facts = { match_name, kickoff_at: match.kickoffAt.toISOString(), venue: match.venue };
  return kind === 'moved' ? { template: 'match_changed', change: 'moved', ...facts } : { template: 'match_reminder', ...facts };
}
