import type { OutboxMessage } from '#application/outbox';
import type { PushJob } from '#contracts/queue-jobs';
import { writePush, type PushContent } from '#domain/notification/push-templates';
import type { FanContact } from '../../../fans/fans.api.ts';
import type { WaitingRoomEvent } from '../application/waiting-room-ports.ts';

/**
 * How long the push "You are at the front" is worth sending: an absent fan stays at the front of the line for 30 minutes (CONTRACT
 * §6).
 */
const FRONT_USEFUL_MS = 30 * 60_000;
/** How long a push about a position is worth sending: after 10 minutes there is a push about a newer position. */
const POSITION_USEFUL_MS = 10 * 60_000;

/** A push about an event of the waiting room. */
interface Notice {
  readonly event: string;
  readonly content: Extract<PushContent, { template: `queue_${string}` }>;
  readonly action: string;
  readonly usefulUntil: string;
}

/** Ids of the fans whom this event of the waiting room concerns and who may get a push about it. */
export function fansToNotify(event: WaitingRoomEvent): readonly string[] {
  if (event.kind === 'positions') return event.items.map(({ userId }) => userId);
  return event.kind === 'turn ended' || event.kind === 'joins from one address' ? [] : [event.userId];
}

function noticeOf(event: WaitingRoomEvent, userId: string, madeAt: Date): Notice | undefined {
  const after = (ms: number): string => new Date(madeAt.getTime() + ms).toISOString();
  switch (event.kind) {
    case 'turn granted': {
      const content = { template: 'queue_your_turn' } as const;
      return { event: 'queue.turn_granted', content, action: 'open_checkout', usefulUntil: event.expiresAt };
    }
    case 'front reached': {
      const content = { template: 'queue_front' } as const;
      return { event: 'queue.front_reached', content, action: 'open_queue', usefulUntil: after(FRONT_USEFUL_MS) };
    }
    case 'positions': {
      const item = event.items.find((entry) => entry.userId === userId);
      if (!item) return undefined;
      const content = { template: 'queue_position', position: item.position } as const;
      return { event: 'queue.position_update', content, action: 'open_queue', usefulUntil: after(POSITION_USEFUL_MS) };
    }
    case 'joins from one address':
    case 'turn ended':
      return undefined;
  }
}

/** The push to one fan about one event of the waiting room; undefined for a fan without a device. */
export function queuePush(
  event: WaitingRoomEvent,
  { userId, locale, fcmTokens }: FanContact,
  made: { id: string; at: Date },
): OutboxMessage | undefined {
  const notice = fcmTokens.length > 0 ? noticeOf(event, userId, made.at) : undefined;
  if (!notice) return undefined;
  const { template } = notice.content;
  const isUrgent = template !== 'queue_position';
  const body: PushJob = {
    job_id: made.id,
    created_at: made.at.toISOString(),
    attempts: 0,
    max_attempts: 3,
    type: 'push',
    template,
    user_id: userId,
    fcm_tokens: [...fcmTokens],
    payload: { ...writePush(notice.content, locale), data: { match_id: event.matchId, action: notice.action } },
    priority: isUrgent ? 'high' : 'normal',
    useful_until: notice.usefulUntil,
  };
  return { id: made.id, destination: isUrgent ? 'push-priority' : 'push', event: notice.event, body };
}
