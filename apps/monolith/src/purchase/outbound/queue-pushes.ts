import type { OutboxMessage } from '#application/outbox';
import type { PushJob } from '#contracts/queue-jobs';
import type { FanContact } from '../../fans/fans.api.ts';
import type { WaitingRoomEvent } from '../application/ports.ts';

interface Notice {
  readonly template: PushJob['template'];
  readonly title: string;
  readonly body: string;
  readonly action: string;
  readonly priority: PushJob['priority'];
  readonly usefulUntil?: string;
}

/** Whom an event concerns, and where each of them stands. */
export function fansOf(event: WaitingRoomEvent): readonly string[] {
  if (event.kind === 'positions') return event.items.map(({ userId }) => userId);
  return event.kind === 'turn over' ? [] : [event.userId];
}

/** At most a hundred words a language: the whole text of a push fits on a lock screen. */
function noticeOf(event: WaitingRoomEvent, { userId, locale }: FanContact): Notice | undefined {
  const hr = locale === 'hr';
  if (event.kind === 'turn granted') {
    return {
      template: 'queue_your_turn',
      title: hr ? 'Vi ste na redu!' : 'Your turn!',
      body: hr ? 'Imate ograničeno vrijeme za kupnju. Otvorite aplikaciju.' : 'Your time to buy is running. Open the app.',
      action: 'open_checkout',
      priority: 'high',
      usefulUntil: event.expiresAt,
    };
  }
  if (event.kind === 'front reached') {
    return {
      template: 'queue_front',
      title: hr ? 'Na čelu ste reda' : 'You are at the front',
      body: hr ? 'Vratite se u čekaonicu da biste došli na red.' : 'Come back to the waiting room to get your turn.',
      action: 'open_queue',
      priority: 'high',
    };
  }
  const item = event.kind === 'positions' ? event.items.find((place) => place.userId === userId) : undefined;
  if (!item) return undefined;
  return {
    template: 'queue_position',
    title: hr ? `Vaše mjesto: ${item.position}.` : `Your place: ${item.position}`,
    body: hr ? 'Red se pomiče.' : 'The line is moving.',
    action: 'open_queue',
    priority: 'normal',
  };
}

const eventNames: Record<WaitingRoomEvent['kind'], string> = {
  'turn granted': 'queue.turn_granted',
  'turn over': 'queue.expired',
  'front reached': 'queue.front_reached',
  positions: 'queue.position_update',
};

/** The push of one event for one fan; none for who has no device. */
export function queuePush(
  event: WaitingRoomEvent,
  contact: FanContact,
  made: { id: string; at: Date },
): OutboxMessage | undefined {
  const notice = contact.fcmTokens.length > 0 ? noticeOf(event, contact) : undefined;
  if (!notice) return undefined;
  const body: PushJob = {
    job_id: made.id,
    created_at: made.at.toISOString(),
    attempts: 0,
    max_attempts: 3,
    type: 'push',
    template: notice.template,
    user_id: contact.userId,
    fcm_tokens: [...contact.fcmTokens],
    payload: { title: notice.title, body: notice.body, data: { match_id: event.matchId, action: notice.action } },
    priority: notice.priority,
    ...(notice.usefulUntil ? { useful_until: notice.usefulUntil } : {}),
  };
  return { id: made.id, destination: notice.priority === 'high' ? 'push-priority' : 'push', event: eventNames[event.kind], body };
}
