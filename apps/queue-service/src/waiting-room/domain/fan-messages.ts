import type { ClosedReason, FanState, QueueState } from './fan-state.ts';
import { estimateAt, estimateWait, linePace } from './wait-estimate.ts';

/** A message to a fan, over a socket or an event stream, as #contracts/socket-messages defines it. */
type FanMessage =
  | {
      readonly type: 'position_update';
      readonly position: number;
      readonly total: number;
      readonly estimated_wait_minutes: number | null;
      readonly estimated_wait_range: readonly [number, number] | null;
      readonly paused?: true;
      readonly reason?: string;
      readonly remaining_sectors?: readonly { sector_id: string; name: string; available: number }[];
    }
  | {
      readonly type: 'turn_granted';
      readonly purchase_window_expires_at: string;
      readonly checkout_url: string;
      readonly session_token: string;
    }
  | { readonly type: 'queue_closed'; readonly reason: ClosedReason }
  | { readonly type: 'turn_expired' }
  | { readonly type: 'turn_completed' };

interface MessageEnvironment {
  readonly queue: QueueState;
  readonly checkoutUrl: string;
  readonly purchaseWindowMs: number;
}

/** The message for a fan's state. Undefined for a fan who left or was never in line: the connection is closed without a message. */
export function messageFor(state: FanState, environment: MessageEnvironment): FanMessage | undefined {
  switch (state.kind) {
    case 'waiting':
      return positionUpdate(state.position, environment);
    case 'granted':
      return {
        type: 'turn_granted',
        purchase_window_expires_at: state.expiresAt,
        checkout_url: environment.checkoutUrl,
        session_token: state.sessionToken,
      };
    case 'over':
      if (state.status === 'closed') return { type: 'queue_closed', reason: state.reason };
      if (state.status === 'left') return undefined;
      return { type: state.status === 'expired' ? 'turn_expired' : 'turn_completed' };
    case 'not_in_line':
      return undefined;
  }
}

function positionUpdate(position: number, { queue, purchaseWindowMs }: MessageEnvironment): FanMessage {
  const estimate = estimateWait(queue, position, purchaseWindowMs);
  return {
    type: 'position_update',
    position,
    total: queue.total,
    estimated_wait_minutes: estimate?.minutes ?? null,
    estimated_wait_range: estimate?.range ?? null,
    ...(queue.status === 'paused' ? { paused: true as const, ...(queue.reason ? { reason: queue.reason } : {}) } : {}),
    ...(queue.remainingSectors.length > 0
      ? {
          remaining_sectors: queue.remainingSectors.map(({ sectorId, name, available }) => ({
            sector_id: sectorId,
            name,
            available,
          })),
        }
      : {}),
  };
}

/**
 * The position messages of one line, as JSON text for each position. The part that all positions share is serialized once, so
 * a message costs a few hundred nanoseconds. The text is exactly JSON.stringify of what `messageFor` returns (tested).
 */
export function positionTexts({
  queue,
  purchaseWindowMs,
}: Omit<MessageEnvironment, 'checkoutUrl'>): (position: number) => string {
  const pace = linePace(queue, purchaseWindowMs);
  const example = JSON.stringify(positionUpdate(1, { queue, purchaseWindowMs, checkoutUrl: '' }));
  const sharedEnd = /"estimated_wait_range":(?:null|\[\d+,\d+\])(.*)$/.exec(example)?.[1] ?? '}';
  return (position) => {
    const estimate = pace && estimateAt(queue, pace, position, purchaseWindowMs);
    const range = estimate ? `[${estimate.range[0]},${estimate.range[1]}]` : 'null';
    return `{"type":"position_update","position":${position},"total":${queue.total},"estimated_wait_minutes":${estimate?.minutes ?? null},"estimated_wait_range":${range}${sharedEnd}`;
  };
}
