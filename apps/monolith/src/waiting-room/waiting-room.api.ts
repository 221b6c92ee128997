import type { ControlRequest, QueueStatusAnswer } from '#contracts/waiting-room-control';
import type { SaleStatus } from '#domain/catalog/sale';

/** The queue service, from the monolith's side: internal REST, never inside a transaction. */
export abstract class WaitingRoomApi {
  /** Answers when the waiting room has taken it; throws DEPENDENCY_UNAVAILABLE when it does not, and nothing was changed. */
  abstract control(matchId: string, request: ControlRequest): Promise<void>;
  /** Undefined when it does not answer or has no such queue. */
  abstract status(matchId: string): Promise<QueueStatusAnswer | undefined>;
  /** Does it have this queue? Undefined when it does not answer. */
  abstract knows(matchId: string): Promise<boolean | undefined>;
  /** The purchase of this turn is done. Repeatable; a late repeat does not end a newer turn of the same fan. */
  abstract complete(matchId: string, userId: string, sessionToken: string): Promise<void>;
  /**
   * Runs one change of a match's queue at a time, over all replicas, so that what is read from the catalogue and what the
   * waiting room is told cannot overtake each other.
   */
  abstract exclusively<T>(matchId: string, work: () => Promise<T>): Promise<T>;
}

/** Outbox destination: what the waiting room must hear, delivered until it answers 2xx. */
export const WAITING_ROOM_DESTINATION = 'waiting-room';

export type WaitingRoomMessage =
  | { readonly kind: 'complete'; readonly match_id: string; readonly user_id: string; readonly session_token: string }
  /** Tell it the state the match has when this is delivered. */
  | { readonly kind: 'sync'; readonly match_id: string };

export interface QueuedMatch {
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
  readonly pauseReason: string | null;
}

const queueStatusOf: Record<SaleStatus, ControlRequest['status']> = {
  scheduled: 'scheduled',
  open: 'active',
  paused: 'paused',
  sold_out: 'closed',
  closed: 'closed',
};

/** What the waiting room must know of a match, all of it: it may have lost everything. */
export function controlOf(match: QueuedMatch): ControlRequest {
  return {
    status: queueStatusOf[match.saleStatus],
    opens_at: match.opensAt?.toISOString() ?? null,
    processing_rate: match.processingRate,
    max_open_windows: match.maxOpenWindows,
    reason: match.saleStatus === 'sold_out' ? 'sold_out' : match.pauseReason,
  };
}
