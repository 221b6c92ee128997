import { DomainError } from '#domain/shared/domain-error';
import type { LinePace } from '../domain/wait-estimate.ts';
import type { LineMove } from '../domain/line-view.ts';
import type { ClosedReason, FanState, QueueState, QueueStatus, RemainingSector } from '../domain/fan-state.ts';

/** The state of one fan in the line of a match, with the state of the whole queue. */
export interface QueueEntry {
  readonly state: FanState;
  readonly queue: QueueState;
  /** Null once the queue entry or turn has ended. */
  readonly queueToken: string | null;
  /** The join time in µs on Redis' clock. A receipt contains it with a signature. Null once the queue entry or turn has ended. */
  readonly score: string | null;
}

/** What a join led to. 'unknown': the match has no queue. 'scheduled': the queue is not open yet. */
export type JoinOutcome =
  /** 'kept': the fan was in line or in a turn already. 'restored': a receipt restored the earlier queue entry. */
  | { readonly kind: 'created' | 'restored' | 'kept'; readonly entry: QueueEntry }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'scheduled'; readonly opensAt: string | null }
  | { readonly kind: 'closed'; readonly reason: ClosedReason };

/** A change of the settings of a queue, as the monolith sends it. Omitted fields keep their value; null clears a value. */
export interface QueueChange {
  readonly status?: QueueStatus;
  readonly opens_at?: string | null;
  readonly processing_rate?: number;
  readonly max_open_windows?: number;
  readonly useful_windows?: number | null;
  readonly reason?: string | null;
}

/** 'draining': nothing was changed, because fans of an earlier closed line must get their final state first. */
export type ChangeOutcome = 'done' | 'draining';

/** One part of the state of a match, as the monolith sends it for a match that Redis does not know. */
export interface RestoredPart {
  /** false: the match has no waiting room. */
  readonly exists?: boolean;
  readonly generation?: number;
  readonly part?: number;
  /** True for the last part. */
  readonly complete?: boolean;
  readonly sale?: QueueChange & { readonly closed_reason?: ClosedReason };
  readonly counts?: { readonly granted: number; readonly completed: number; readonly expired: number };
  readonly windows?: readonly {
    readonly user_id: string;
    readonly session_token: string;
    readonly expires_at: string;
    readonly place_score?: number;
  }[];
  /** Fans whose turn was used or given up, each with the join time (µs) of the queue entry that had the turn. */
  readonly used?: readonly (readonly [userId: string, score: number])[];
}

/**
 * Redis has no state of this match, or only a part of it, so no request about it may be answered. The monolith was asked for the
 * state and sends it within a second or two.
 */
export class StateNeeded extends DomainError {
  constructor(readonly matchId: string) {
    super('DEPENDENCY_UNAVAILABLE', 'The state of this waiting room is being restored. Try again.', {
      state_needed: true,
      retry_after_seconds: 1,
    });
  }
}

/** What one call of `WaitingLines.admit` did. */
export interface AdmissionResult {
  readonly granted: number;
  /** True if more turns can be granted at once: call `admit` again. */
  readonly hasMore: boolean;
  /** True if the line is empty and no window is open: no turn can be granted until a fan joins. */
  readonly isIdle: boolean;
}

/**
 * The lines of all matches. Each call is atomic and safe to repeat, and uses Redis' clock. While Redis does not know the state of a
 * match, calls that read its line or end a queue entry or turn throw `StateNeeded`. Any pod may call the methods that move a line
 * forward (from `drainClosed` on) at any time.
 */
export abstract class WaitingLines {
  /**
   * Puts a fan into the line. `receiptScore` is the join time in a valid receipt: it restores the queue entry of that time unless
   * the entry has ended.
   */
  abstract join(matchId: string, userId: string, receiptScore?: string): Promise<JoinOutcome>;
  /** Reads the fan's entry without joining. Counts as a sign of life. Undefined when the match has no queue. */
  abstract pollEntry(matchId: string, userId: string): Promise<QueueEntry | undefined>;
  abstract leave(matchId: string, userId: string): Promise<void>;
  /** Like `leave`, but how the entry or turn ended is kept only for some seconds. */
  abstract forget(matchId: string, userId: string): Promise<void>;
  abstract completeWindow(matchId: string, userId: string, sessionToken?: string): Promise<void>;
  /** Stores settings, even while Redis does not know the state of the match; `isKnown` tells whether it does. */
  abstract change(matchId: string, change: QueueChange): Promise<{ outcome: ChangeOutcome; isKnown: boolean }>;
  /**
   * Stores one part of the state of a match. 'out_of_step': an earlier part is missing, because Redis lost it. Start again with
   * part 0.
   */
  abstract restore(matchId: string, part: RestoredPart): Promise<ChangeOutcome | 'out_of_step'>;
  /**
   * Stores the sectors that still have seats. An empty list closes the line as sold out. `asOf` is the number of the
   * report: a report with a smaller number than an earlier one is ignored.
   */
  abstract reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<ChangeOutcome>;
  abstract readQueue(matchId: string): Promise<QueueState | undefined>;
  abstract matches(): Promise<string[]>;
  /** Matches whose state is missing in Redis and about which this pod got a request within the last minute. */
  abstract matchesWithoutState(): readonly string[];
  /**
   * `drainClosed` writes the final states of the fans of a closed line, `endWindows` ends expired windows, `dropAbsent` drops fans
   * who were absent for too long. Each processes at most `limit` fans and returns how many. Fewer than `limit`: no work is left.
   */
  abstract drainClosed(matchId: string, limit: number): Promise<number>;
  abstract endWindows(matchId: string, limit: number): Promise<number>;
  abstract dropAbsent(matchId: string, limit: number): Promise<number>;
  abstract admit(matchId: string, limit: number): Promise<AdmissionResult>;
  /**
   * Publishes an event with the fans who have no connection and passed position 1,000, 100 or 10, and returns how many. Their
   * estimated waits follow from `pace`.
   */
  abstract announcePositions(matchId: string, pace: LinePace | undefined): Promise<number>;
}

/** The number of addresses for each range of joins: at most this bound, and more than the bound before it. */
export interface JoinsByAddress {
  readonly match: string;
  readonly addresses: readonly { readonly upTo: number; readonly count: number }[];
  readonly joins: number;
}

/** Counts the joins of the first minute after an opening by address, over all pods. */
export abstract class JoinCounts {
  /** Adds joins of this pod. If it fails, they may have been counted: do not call it again with them. */
  abstract add(matchId: string, joinsByAddress: readonly (readonly [address: string, joins: number])[]): Promise<void>;
  /** The counts of all openings of the last hour. */
  abstract read(): Promise<readonly JoinsByAddress[]>;
}

/** The positions of the requested fans, all read at the same moment. */
export interface PositionsSnapshot {
  /** For each requested fan: the position in line, 0 for a fan with an open window, -1 for any other fan. */
  readonly positions: readonly number[];
  /** For each requested fan: the score (join time in µs) of a waiting fan, else null. */
  readonly scores: readonly (number | null)[];
  /** Absent when the match has no queue any more. */
  readonly queue?: QueueState;
}

type TokenHolder = { readonly matchId: string; readonly userId: string; readonly token: string };

/** The ids of a connection and of its fan. A pod needs the two ids to find one of its own connections. */
export interface FanDevice {
  readonly userId: string;
  /** Starts with the id of the pod that holds the connection. */
  readonly websocketId: string;
}

/** The owner of a queue token and the owner's queue entry. */
export interface TokenLookup {
  readonly matchId: string;
  readonly userId: string;
  readonly entry: QueueEntry;
}

/** What a pod reads about its connected fans, and what it reports about them. */
export abstract class ConnectedFans {
  /**
   * Reads the fan of a queue token. Undefined for a token that was never issued or ended long ago. With `websocketId` this new
   * connection is added to the fan's device list. If it is the fan's sixth over all pods, the oldest is removed from the list and
   * its pod must close it.
   */
  abstract readToken(token: string, websocketId?: string): Promise<TokenLookup | undefined>;
  /** Like `readToken`, for an event stream. A stream never replaces another connection: 'full' if the fan has five. */
  abstract readTokenForStream(token: string, websocketId: string): Promise<TokenLookup | 'full' | undefined>;
  abstract readPositions(matchId: string, userIds: readonly string[]): Promise<PositionsSnapshot>;
  /** The moves of the line (who left, who came back) after move number `after`. Undefined when the match has no queue. */
  abstract readMoves(matchId: string, after: number): Promise<{ queue: QueueState; moves: LineMove[] } | undefined>;
  /**
   * Reports that the fan has these connections to this pod, oldest first, and renews the expiry of session and token. A connection
   * that Redis has lost is added to the device list again. False when the token is not the fan's current one.
   */
  abstract keepEntry(fan: TokenHolder, websocketIds: readonly string[]): Promise<boolean>;
  /** Records that these fans are still connected, so that they are not dropped from the line as absent. */
  abstract renewPresence(matchId: string, userIds: readonly string[]): Promise<void>;
  /** Removes closed connections from the device lists. */
  abstract removeConnections(matchId: string, devices: readonly FanDevice[]): Promise<void>;
  /**
   * Sends the pod's heartbeat, and in `closed` the replaced connections that the pod has closed. Returns replaced connections
   * that the pod still has to close.
   */
  abstract sendHeartbeat(matchId: string, pod: string, closed: readonly FanDevice[]): Promise<FanDevice[]>;
  /** Called before the pod closes all its connections: from now on they do not count towards a fan's limit of five. */
  abstract removePod(matchId: string, pod: string): Promise<void>;
}

/**
 * Chooses the pod that reports the gauges of the lines, which every pod could read from Redis: with several reports, a sum over the
 * pods would count each fan several times.
 */
export abstract class LineReporter {
  /** True if this pod reports. A pod without a rival becomes the reporter for some seconds, and each call prolongs that. */
  abstract claim(): Promise<boolean>;
  /** Lets another pod become the reporter at once. */
  abstract release(): Promise<void>;
}

/** The fans who may not join a line. The monolith writes this blacklist to Redis. */
export abstract class Blacklist {
  /** True for a fan on the blacklist. Answers from a copy in memory that may be about a second old. */
  abstract has(userId: string): boolean;
  /** Reads the blacklist into memory again. Returns the fans who are new on it. */
  abstract refresh(): Promise<readonly string[]>;
}

/** Signed proofs of a fan's join time, which restore the queue entry after a loss of Redis. */
export abstract class Receipts {
  abstract sign(matchId: string, userId: string, score: string): string;
  /** The score (join time in µs) in the receipt. Undefined unless this service signed the receipt for this fan and match. */
  abstract read(matchId: string, userId: string, receipt: string): string | undefined;
}
