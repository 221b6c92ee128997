import type { FanState, QueueState } from './fan-state.ts';
import { estimateAt, estimateWait, linePace } from './wait-estimate.ts';

interface MessageEnvironment {
  readonly queue: QueueState;
  readonly checkoutUrl: string;
  readonly purchaseWindowMs: number;
}

/**
 * The message for a fan's state, over a socket or an event stream, as #contracts/socket-messages defines it. Undefined for a fan who
 * left or was never in line: the connection is closed without a message.
 */
export function messageFor(state: FanState, environment: MessageEnvironment) {
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

/** The fields that tell a waiting fan of a pause. Empty unless the queue is paused. */
export function pauseOf({ status, reason }: QueueState): { paused?: true; reason?: string } {
  return status === 'paused' ? { paused: true, ...(reason ? { reason } : {}) } : {};
}

function positionUpdate(position: number, { queue, purchaseWindowMs }: MessageEnvironment) {
  const estimate = estimateWait(queue, position, purchaseWindowMs);
  return {
    type: 'position_update',
    position,
    total: queue.total,
    estimated_wait_minutes: estimate?.minutes ?? null,
    estimated_wait_range: estimate?.range ?? null,
    ...pauseOf(queue),
    ...(queue.remainingSectors.length > 0 ? { remaining_sectors: queue.remainingSectors } : {}),
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
