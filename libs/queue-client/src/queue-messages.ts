import type { z } from 'zod';
// Imported as types only, so that zod is not bundled into the web page.
import type { serverMessage } from '../../contracts/src/socket-messages.ts';
import type { PositionAnswer as Entry } from '../../contracts/src/waiting-room.ts';

/** A message of the server to a fan, the same over a socket and over an event stream. */
export type QueueMessage = Exclude<z.infer<typeof serverMessage>, { type: 'error' }>;

/** The fields of the answers of join and position that clients use. */
export type PositionAnswer = Partial<Entry> & Pick<Entry, 'status' | 'position' | 'total' | 'estimated_wait_minutes'>;

const knownTypes: ReadonlySet<QueueMessage['type']> = new Set<QueueMessage['type']>([
  'position_update',
  'turn_granted',
  'queue_closed',
  'turn_expired',
  'turn_completed',
  'delayed',
  'heartbeat_ack',
]);

/** Parses a message of the server. Undefined for invalid JSON and for unknown types: a newer server may send more types. */
export function readMessage(text: string): QueueMessage | undefined {
  try {
    const message = JSON.parse(text) as QueueMessage;
    return knownTypes.has(message.type) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** True for a final message: the server sends nothing after it. */
export function isLast({ type }: QueueMessage): boolean {
  return type === 'queue_closed' || type === 'turn_expired' || type === 'turn_completed';
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
