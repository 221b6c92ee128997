import { Injectable } from '@nestjs/common';
import { pauseOf } from '../domain/fan-messages.ts';
import type { FanState, QueueState } from '../domain/fan-state.ts';
import { estimateWait } from '../domain/wait-estimate.ts';
import { Receipts, type QueueEntry } from '../application/ports.ts';
import type { PositionAnswer } from '#contracts/waiting-room';
import { QueueConfig } from './queue-config.ts';

const NO_WAIT = { minutes: 0, range: [0, 0] } as const;

/** Builds the answer to the requests `join` and `position` from a queue entry. */
@Injectable()
export class PositionAnswers {
  constructor(
    private readonly receipts: Receipts,
    private readonly config: QueueConfig,
  ) {}

  build(matchId: string, userId: string, { state, queue, queueToken, score }: QueueEntry): PositionAnswer {
    const { position, estimate } = this.placeOf(state, queue);
    return {
      position,
      total: queue.total,
      estimated_wait_minutes: estimate?.minutes ?? null,
      estimated_wait_range: estimate ? [...estimate.range] : null,
      status: statusOf(state),
      queue_token: queueToken,
      websocket_url: queueToken && this.config.socketUrl(queueToken),
      sse_url: queueToken && this.config.streamUrl(queueToken),
      receipt: score && this.receipts.sign(matchId, userId, score),
      ...(state.kind === 'waiting' ? pauseOf(queue) : {}),
      ...(state.kind === 'over' && state.status === 'closed' ? { reason: state.reason } : {}),
      ...(state.kind === 'granted'
        ? {
            purchase_window_expires_at: state.expiresAt,
            session_token: state.sessionToken,
            checkout_url: this.config.checkoutUrl(matchId),
          }
        : {}),
    };
  }

  private placeOf(state: FanState, queue: QueueState) {
    if (state.kind === 'granted') return { position: 0, estimate: NO_WAIT };
    if (state.kind !== 'waiting') return { position: null, estimate: null };
    const { position } = state;
    return { position, estimate: estimateWait(queue, position, this.config.purchaseWindowMs) };
  }
}

function statusOf(state: FanState): PositionAnswer['status'] {
  if (state.kind === 'waiting' || state.kind === 'granted') return state.kind;
  if (state.kind === 'over' && state.status !== 'left') return state.status;
  throw new Error('A fan who is not in line has no status. ReadPosition must refuse this fan before.');
}
