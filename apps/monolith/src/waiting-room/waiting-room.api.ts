import type { ControlRequest, QueueStatusAnswer, RestoreRequest, SoldOutRequest } from '#contracts/waiting-room-control';
import type { SaleStatus } from '#domain/catalog/sale';

/** The monolith's calls to the queue service, over internal REST. Never call them inside a transaction. */
export abstract class WaitingRoomApi {
  /**
   * Sends the whole state of a match. Creates the queue if it does not exist, and restores its turns if Redis has lost them.
   * Returns after the waiting room has accepted the state, otherwise throws DEPENDENCY_UNAVAILABLE. Without `usefulWindows` (how
   * many turns may still find a seat), they are counted, and the line of a sold-out sale ends. With it, a sold-out sale keeps its
   * line.
   */
  abstract sync(match: QueuedMatch, usefulWindows?: number): Promise<void>;
  /**
   * Sends the sectors that still have seats, for the fans in line. `asOf` grows with every count of the seats, so that the
   * waiting room ignores an older count. `sectors` must not be empty: send a sold-out match with `sync`.
   */
  abstract reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<void>;
  /** The figures of a queue. Undefined if the waiting room does not answer or has no such queue. */
  abstract figures(matchId: string): Promise<QueueStatusAnswer | undefined>;
  /** The status of a queue; 'unknown' if the waiting room has no such queue. Undefined if the waiting room does not answer. */
  abstract queueStatus(matchId: string): Promise<'unknown' | QueueStatusAnswer['status'] | undefined>;
  /**
   * Ends a turn after its purchase. The call may be repeated: a late repeat does not end a newer turn of the same fan. Rejects if
   * the waiting room does not accept the call.
   */
  abstract complete(matchId: string, userId: string, sessionToken: string): Promise<void>;
  /** Takes the fan out of all lines and ends all turns of the fan. The call may be repeated. Rejects like `complete`. */
  abstract forget(userId: string): Promise<void>;
  /**
   * Runs one change of a match's queue at a time, over all replicas. What `work` reads from the catalogue is then still current
   * when the waiting room receives it.
   */
  abstract withQueueLock<T>(matchId: string, work: () => Promise<T>): Promise<T>;
}

/** Outbox destination for messages to the waiting room. Each message is retried until the queue service answers 2xx. */
export const WAITING_ROOM_DESTINATION = 'waiting-room';

/** A message to the waiting room, as it is written to the outbox. */
export type WaitingRoomMessage =
  | { readonly kind: 'complete'; readonly match_id: string; readonly user_id: string; readonly session_token: string }
  /** Sends the state that the match has at the time of delivery. */
  | { readonly kind: 'sync'; readonly match_id: string }
  /** Takes the fan out of all lines. */
  | { readonly kind: 'forget'; readonly user_id: string };

/** A sector that still has seats, with their number. */
export type RemainingSector = SoldOutRequest['remaining_sectors'][number];

/** What the waiting room must know about a match. */
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
 * The state of a match for the waiting room. All fields are always sent, because the waiting room may have lost everything. A
 * sold-out sale has no status here: `closed` would end the open windows, so a separate call reports it. Until that call, zero
 * useful windows keep new fans out, and without `opens_at` a queue that is created by this call does not open.
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

/**
 * The state of a match for a restore, after Redis lost it. Here a sold-out sale is `closed`: its open windows are sent
 * afterwards, so closing ends none of them.
 */
export function restoredSaleOf(match: QueuedMatch, usefulWindows?: number): RestoreRequest['sale'] {
  const settings = controlOf(match, usefulWindows);
  return match.saleStatus === 'sold_out' ? { ...settings, status: 'closed', closed_reason: 'sold_out' } : settings;
}
