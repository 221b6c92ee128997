import type { ClosedReason, FanState, QueueState } from './fan-state.ts';
import { estimateAt, estimateWait, linePace } from './wait-estimate.ts';

/** What a socket or a stream says to a fan, word by word as in the contract. */
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

/** The message a state becomes; undefined for who has left or was never here, who is only disconnected. */
export function messageFor(state: FanState, surroundings: MessageEnvironment): FanMessage | undefined {
  switch (state.kind) {
    case 'waiting':
      return positionUpdate(state.position, surroundings);
    case 'granted':
      return {
        type: 'turn_granted',
        purchase_window_expires_at: state.expiresAt,
        checkout_url: surroundings.checkoutUrl,
        session_token: state.sessionToken,
      };
    case 'over':
      if (state.status === 'closed') return { type: 'queue_closed', reason: state.reason };
      if (state.status === 'left') return undefined;
      return { type: state.status === 'expired' ? 'turn_expired' : 'turn_completed' };
    case 'nowhere':
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
 * The message of everybody who waits in this line, as text: what is the same for all is written once, so that a line of
 * thousands costs a few hundred nanoseconds a fan. Word by word what `messageFor` says.
 */
export function positionTexts({
  queue,
  purchaseWindowMs,
}: Omit<MessageEnvironment, 'checkoutUrl'>): (position: number) => string {
  const pace = linePace(queue, purchaseWindowMs);
  const whole = JSON.stringify(positionUpdate(1, { queue, purchaseWindowMs, checkoutUrl: '' }));
  const common = /"estimated_wait_range":(?:null|\[\d+,\d+\])(.*)$/.exec(whole)?.[1] ?? '}';
  return (position) => {
    const estimate = pace && estimateAt(queue, pace, position, purchaseWindowMs);
    const range = estimate ? `[${estimate.range[0]},${estimate.range[1]}]` : 'null';
    return `{"type":"position_update","position":${position},"total":${queue.total},"estimated_wait_minutes":${estimate?.minutes ?? null},"estimated_wait_range":${range}${common}`;
  };
}
