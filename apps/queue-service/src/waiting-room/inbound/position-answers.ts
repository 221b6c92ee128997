import { Injectable } from '@nestjs/common';
import type { FanState } from '../domain/fan-state.ts';
import { estimateWait } from '../domain/wait-estimate.ts';
import { Links } from '../application/links.ts';
import { Receipts, type QueueEntry } from '../application/ports.ts';
import type { PositionAnswer } from '#contracts/waiting-room';
import { QueueConfig } from './queue-config.ts';

/** Builds the answer to the requests `join` and `position` from a queue entry. */
@Injectable()
export class PositionAnswers {
  constructor(
    private readonly links: Links,
    private readonly receipts: Receipts,
    private readonly config: QueueConfig,
  ) {}

  build(matchId: string, userId: string, { state, queue, queueToken, score }: QueueEntry): PositionAnswer {
    const position = positionOf(state);
    const estimate = position === null || position === 0 ? null : estimateWait(queue, position, this.config.purchaseWindowMs);
    return {
      position,
      total: queue.total,
      estimated_wait_minutes: position === 0 ? 0 : (estimate?.minutes ?? null),
      estimated_wait_range: position === 0 ? [0, 0] : estimate ? [...estimate.range] : null,
      status: statusOf(state),
      queue_token: queueToken,
      websocket_url: queueToken && this.links.socket(queueToken),
      sse_url: queueToken && this.links.stream(queueToken),
      receipt: score && this.receipts.sign(matchId, userId, score),
      ...(state.kind === 'waiting' && queue.status === 'paused'
        ? { paused: true, ...(queue.reason ? { reason: queue.reason } : {}) }
        : {}),
      ...(state.kind === 'over' && state.status === 'closed' ? { reason: state.reason } : {}),
      ...(state.kind === 'granted'
        ? {
            purchase_window_expires_at: state.expiresAt,
            session_token: state.sessionToken,
            checkout_url: this.links.checkout(matchId),
          }
        : {}),
    };
  }
}

function positionOf(state: FanState): number | null {
  if (state.kind === 'waiting') return state.position;
  return state.kind === 'granted' ? 0 : null;
}

function statusOf(state: FanState): PositionAnswer['status'] {
  if (state.kind === 'waiting' || state.kind === 'granted') return state.kind;
  if (state.kind === 'over' && state.status !== 'left') return state.status;
  throw new Error('A fan who is not in line has no status. ReadPosition must refuse this fan before.');
}
