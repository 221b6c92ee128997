import type { z } from 'zod';
// Types only: nothing of zod gets into the page.
import type { serverMessage } from '../../contracts/src/socket-messages.ts';

/** Server → client, the same on the socket and the event stream. */
export type QueueMessage = Exclude<z.infer<typeof serverMessage>, { type: 'error' }>;

/** What a client needs to know of the answer of join and position. */
export interface PositionAnswer {
  readonly status: 'waiting' | 'granted' | 'expired' | 'completed' | 'closed';
  readonly position: number | null;
  readonly total: number;
  readonly estimated_wait_minutes: number | null;
  readonly estimated_wait_range?: [number, number] | null;
  readonly paused?: boolean;
  readonly reason?: string | null;
  readonly purchase_window_expires_at?: string | null;
  readonly session_token?: string | null;
  readonly checkout_url?: string | null;
}

const known: ReadonlySet<QueueMessage['type']> = new Set<QueueMessage['type']>([
  'position_update',
  'turn_granted',
  'queue_closed',
  'turn_expired',
  'turn_completed',
  'delayed',
  'heartbeat_ack',
]);

/** Undefined for what this version does not know: a newer server may say more. */
export function readMessage(text: string): QueueMessage | undefined {
  try {
    const message = JSON.parse(text) as QueueMessage;
    return known.has(message.type) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** After these nothing more is said. */
export function isLast({ type }: QueueMessage): boolean {
  return type === 'queue_closed' || type === 'turn_expired' || type === 'turn_completed';
}

/** What the answer of join or position would have been as a message, so that polling feeds the same state. */
export function positionAsMessage(place: PositionAnswer): QueueMessage {
  switch (place.status) {
    case 'granted':
      return {
        type: 'turn_granted',
        purchase_window_expires_at: place.purchase_window_expires_at ?? '',
        session_token: place.session_token ?? '',
        checkout_url: place.checkout_url ?? '',
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
        ...(place.paused ? { paused: true } : {}),
        ...(place.reason ? { reason: place.reason } : {}),
      };
  }
}
