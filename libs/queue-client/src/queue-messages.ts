import type { z } from 'zod';
// Imported as types only, so that zod is not bundled into the web page.
import type { serverMessage } from '../../contracts/src/socket-messages.ts';
import type { PositionAnswer as Entry } from '../../contracts/src/waiting-room.ts';

/** A message of the server to a fan, the same over a socket and over an event stream. */
export type QueueMessage = Exclude<z.infer<typeof serverMessage>, { type: 'error' }>;

/** The fields of the answers of join and position that clients use. */
export type PositionAnswer = Partial<Entry> & Pick<Entry, 'status' | 'position' | 'total' | 'estimated_wait_minutes'>;

/** All types of messages, each with whether it is final: the server sends nothing after a final message. */
const isFinal: Readonly<Record<QueueMessage['type'], boolean>> = {
  position_update: false,
  turn_granted: false,
  queue_closed: true,
  turn_expired: true,
  turn_completed: true,
  delayed: false,
  heartbeat_ack: false,
};

/** Parses a message of the server. Undefined for invalid JSON and for unknown types: a newer server may send more types. */
export function readMessage(text: string): QueueMessage | undefined {
  try {
    const message = JSON.parse(text) as QueueMessage;
    return Object.hasOwn(isFinal, message.type) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** True for a final message. */
export function isLast({ type }: QueueMessage): boolean {
  return isFinal[type];
}

/** Converts an answer of join or position into the message with the same content, so that clients handle polling like messages. */
export function positionAsMessage(answer: PositionAnswer): QueueMessage {
  switch (answer.status) {
    case 'granted':
      return {
        type: 'turn_granted',
        purchase_window_expires_at: answer.purchase_window_expires_at ?? '',
        session_token: answer.session_token ?? '',
        checkout_url: answer.checkout_url ?? '',
      };
    case 'completed':
      return { type: 'turn_completed' };
    case 'closed':
      return { type: 'queue_closed', reason: answer.reason === 'sold_out' ? 'sold_out' : 'closed' };
    case 'expired':
      return { type: 'turn_expired' };
    case 'waiting':
      return {
        type: 'position_update',
        position: answer.position ?? 0,
        total: answer.total,
        estimated_wait_minutes: answer.estimated_wait_minutes,
        estimated_wait_range: answer.estimated_wait_range,
        ...(answer.paused ? { paused: true } : {}),
        ...(answer.reason ? { reason: answer.reason } : {}),
      };
  }
}
