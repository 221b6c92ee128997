import type { QueuePlace } from '../api/types.ts';

/** Server → client messages of CONTRACT §6; the same on socket and event stream. */
export type QueueMessage =
  | {
      type: 'position_update';
      position: number;
      total: number;
      estimated_wait_minutes: number | null;
      estimated_wait_range?: [number, number] | null;
      paused?: boolean;
      reason?: string | null;
      remaining_sectors?: { sector_id: string; name: string; available: number }[];
    }
  | { type: 'turn_granted'; purchase_window_expires_at: string; session_token: string }
  | { type: 'queue_closed'; reason: 'sold_out' | 'closed' }
  | { type: 'turn_expired' }
  | { type: 'turn_completed' }
  | { type: 'delayed' }
  | { type: 'heartbeat_ack' };

const known = ['position_update', 'turn_granted', 'queue_closed', 'turn_expired', 'turn_completed', 'delayed', 'heartbeat_ack'];

/** Undefined for what this version of the page does not know: a newer server may say more. */
export function readMessage(text: string): QueueMessage | undefined {
  try {
    const message = JSON.parse(text) as QueueMessage;
    return known.includes(message.type) ? message : undefined;
  } catch {
    return undefined;
  }
}

export function isLast(message: QueueMessage): boolean {
  return message.type === 'queue_closed' || message.type === 'turn_expired' || message.type === 'turn_completed';
}

/** What the answer of join or position would have been as a message, so that polling feeds the same state. */
export function placeAsMessage(place: QueuePlace): QueueMessage {
  switch (place.status) {
    case 'granted':
      return {
        type: 'turn_granted',
        purchase_window_expires_at: place.purchase_window_expires_at ?? '',
        session_token: place.session_token ?? '',
      };
    case 'completed':
      return { type: 'turn_completed' };
    case 'closed':
      return { type: 'queue_closed', reason: place.reason === 'sold_out' ? 'sold_out' : 'closed' };
    case 'expired':
      return { type: 'turn_expired' };
    case 'waiting':
      return {
        type: 'position_update',
        position: place.position ?? 0,
        total: place.total,
        estimated_wait_minutes: place.estimated_wait_minutes,
        estimated_wait_range: place.estimated_wait_range,
        paused: place.paused,
        reason: place.reason,
      };
  }
}
