import type { OutboxMessage } from '#application/outbox';
import type { PushJob } from '#contracts/queue-jobs';
import { writePush } from '#domain/notification/push-templates';
import type { FanContact } from '../../../fans/fans.api.ts';
import type { WaitingRoomEvent } from '../application/waiting-room-ports.ts';

/**
 * How long the push "You are at the front" is worth sending: an absent fan stays at the front of the line for 30 minutes (CONTRACT
 * §6).
 */
const FRONT_USEFUL_MS = 30 * 60_000;
/** How long a push about a position is worth sending: after 10 minutes there is a push about a newer position. */
const POSITION_USEFUL_MS = 10 * 60_000;

interface Notice {
  readonly template: PushJob['template'];
  readonly title: string;
  readonly body: string;
  readonly action: string;
  readonly priority: PushJob['priority'];
  readonly usefulUntil: string;
}

/** Ids of the fans whom this event of the waiting room concerns and who may get a push about it. */
export function fansToNotify(event: WaitingRoomEvent): readonly string[] {
  if (event.kind === 'positions') return event.items.map(({ userId }) => userId);
  return event.kind === 'turn ended' ? [] : [event.userId];
}

function noticeOf(event: WaitingRoomEvent, { userId, locale }: FanContact, madeAt: Date): Notice | undefined {
  const after = (ms: number): string => new Date(madeAt.getTime() + ms).toISOString();
  if (event.kind === 'turn granted') {
    const template = 'queue_your_turn';
    const text = writePush({ template }, locale);
    return { template, ...text, action: 'open_checkout', priority: 'high', usefulUntil: event.expiresAt };
  }
  if (event.kind === 'front reached') {
    const template = 'queue_front';
    const text = writePush({ template }, locale);
    return { template, ...text, action: 'open_queue', priority: 'high', usefulUntil: after(FRONT_USEFUL_MS) };
  }
  const item = event.kind === 'positions' ? event.items.find((entry) => entry.userId === userId) : undefined;
  if (!item) return undefined;
  const template = 'queue_position';
  const text = writePush({ template, position: item.position }, locale);
  return { template, ...text, action: 'open_queue', priority: 'normal', usefulUntil: after(POSITION_USEFUL_MS) };
}

const eventNames: Record<WaitingRoomEvent['kind'], string> = {
  'turn granted': 'queue.turn_granted',
  'turn ended': 'queue.expired',
  'front reached': 'queue.front_reached',
  positions: 'queue.position_update',
};

/** The push to one fan about one event of the waiting room; undefined for a fan without a device. */
export function queuePush(
  event: WaitingRoomEvent,
  contact: FanContact,
  made: { id: string; at: Date },
): OutboxMessage | undefined {
  const notice = contact.fcmTokens.length > 0 ? noticeOf(event, contact, made.at) : undefined;
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
    useful_until: notice.usefulUntil,
  };
  return { id: made.id, destination: notice.priority === 'high' ? 'push-priority' : 'push', event: eventNames[event.kind], body };
}
