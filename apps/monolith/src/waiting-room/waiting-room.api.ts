import type { ControlRequest, QueueStatusAnswer, RestoreRequest, SoldOutRequest } from '#contracts/waiting-room-control';
import type { SaleStatus } from '#domain/catalog/sale';

/** The queue service, from the monolith's side: internal REST, never inside a transaction. */
export abstract class WaitingRoomApi {
  /**
   * All it must know of a match as it is now; what is said of it makes the queue if it is not there. Answers when the waiting
   * room has taken it; throws DEPENDENCY_UNAVAILABLE when it does not. Restores a state that Redis does not know. `usefulWindows`
   * is counted if it is not given.
   */
  abstract tell(match: QueuedMatch, usefulWindows?: number): Promise<void>;
  /** Restores the state of a match if the waiting room does not know it; answers whether it had to. Only within `exclusively`. */
  abstract restore(match: QueuedMatch): Promise<boolean>;
  /** Says that this match has no waiting room. */
  abstract disown(matchId: string): Promise<void>;
  /**
   * What is left, at least one sector, for those who wait; `asOf` grows with every count, so that an older one is ignored. Nothing
   * left is the state of a match: `tell`.
   */
  abstract tellRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<void>;
  /** Undefined when it does not answer or has no such queue. */
  abstract status(matchId: string): Promise<QueueStatusAnswer | undefined>;
  /** Does it have this queue, and is it open to anybody? Undefined when it does not answer. */
  abstract look(matchId: string): Promise<'unknown' | QueueStatusAnswer['status'] | undefined>;
  /** The purchase of this turn is done. Repeatable; a late repeat does not end a newer turn of the same fan. Rejects until it is taken. */
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

export type RemainingSector = SoldOutRequest['remaining_sectors'][number];

export interface QueuedMatch {
  readonly id: string;
  readonly saleStatus: SaleStatus;
  readonly opensAt: Date | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
  readonly pauseReason: string | null;
}

const queueStatusOf: Record<Exclude<SaleStatus, 'sold_out'>, ControlRequest['status']> = {
  scheduled: 'scheduled',
  open: 'active',
  paused: 'paused',
  closed: 'closed',
};

/**
 * What the waiting room must know of a match, all of it: it may have lost everything. Sold out is not said here: `closed` would
 * end the open windows, and this is followed by its own call. Until then nobody is let in, and a queue that is not
 * there is made without an hour at which it would open.
 */
export function controlOf(match: QueuedMatch, usefulWindows?: number): ControlRequest {
  const bounds = { processing_rate: match.processingRate, max_open_windows: match.maxOpenWindows };
  if (match.saleStatus === 'sold_out') return { ...bounds, opens_at: null, useful_windows: 0, reason: null };
  return {
    ...bounds,
    status: queueStatusOf[match.saleStatus],
    opens_at: match.opensAt?.toISOString() ?? null,
    reason: match.pauseReason,
    ...(usefulWindows === undefined ? {} : { useful_windows: usefulWindows }),
  };
}

/** The same for a queue that is restored. Sold out is a state of it here: its open windows follow, so closing ends none of them. */
export function restoredSaleOf(match: QueuedMatch, usefulWindows?: number): RestoreRequest['sale'] {
  const settings = controlOf(match, usefulWindows);
  return match.saleStatus === 'sold_out' ? { ...settings, status: 'closed', closed_reason: 'sold_out' } : settings;
}
