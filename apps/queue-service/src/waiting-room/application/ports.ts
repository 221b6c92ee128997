import { DomainError } from '#domain/shared/domain-error';
import type { LinePace } from '../domain/wait-estimate.ts';
import type { LineMove } from '../domain/line-view.ts';
import type { ClosedReason, FanState, QueueState, QueueStatus, RemainingSector } from '../domain/fan-state.ts';

/** One fan's place and the queue around it. */
export interface QueueEntry {
  readonly state: FanState;
  readonly queue: QueueState;
  /** Null once the place or turn is over. */
  readonly queueToken: string | null;
  /** When the fan joined, in Redis' microseconds: what the receipt vouches for. */
  readonly score: string | null;
}

export type JoinOutcome =
  /** 'restored': the place a receipt vouched for. */
  | { readonly kind: 'created' | 'restored' | 'kept'; readonly entry: QueueEntry }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'scheduled'; readonly opensAt: string | null }
  | { readonly kind: 'closed'; readonly reason: ClosedReason };

/** What is left out stays; null takes a value away. */
export interface QueueChange {
  readonly status?: QueueStatus;
  readonly opensAt?: string | null;
  readonly processingRate?: number;
  readonly maxOpenWindows?: number;
  readonly usefulWindows?: number | null;
  readonly reason?: string | null;
}

/** 'draining': an earlier line is not drained yet and nothing was changed. */
export type ChangeOutcome = 'done' | 'draining';

/** One part of the state of a match, as the monolith sends it. */
export interface RestoredPart {
  /** false: the match has no waiting room. */
  readonly exists: boolean;
  readonly generation: number;
  readonly part: number;
  readonly isLast: boolean;
  readonly sale?: QueueChange & { readonly closedReason?: ClosedReason };
  readonly counts?: { readonly granted: number; readonly completed: number; readonly expired: number };
  readonly windows: readonly {
    readonly userId: string;
    readonly sessionToken: string;
    readonly expiresAt: string;
    readonly placeScore: number | null;
  }[];
  /** Fans whose turn is used or given up, and the join time (µs) of that place. */
  readonly used: readonly (readonly [userId: string, score: number])[];
}

/**
 * Redis knows nothing of this match, or not yet everything: nothing may be answered from it. The monolith has been asked for the
 * state and sends it within a second or two.
 */
export class StateNeeded extends DomainError {
  constructor(readonly matchId: string) {
    super('DEPENDENCY_UNAVAILABLE', 'The state of this waiting room is being restored. Ask again.', {
      state_needed: true,
      retry_after_seconds: 1,
    });
  }
}

/**
 * The lines of all matches. Each call is one atomic step and safe to repeat; time is the store's own. What answers about a match
 * or ends something of it throws `StateNeeded` while the state of that match is not known.
 */
export abstract class WaitingLines {
  /** `receiptScore` is what a genuine receipt says; it restores the place if that is not over. */
  abstract join(matchId: string, userId: string, receiptScore?: string): Promise<JoinOutcome>;
  /** Without joining; counts as a sign of life. Undefined when the match has no queue. */
  abstract visit(matchId: string, userId: string): Promise<QueueEntry | undefined>;
  abstract leave(matchId: string, userId: string): Promise<void>;
  abstract completeWindow(matchId: string, userId: string, sessionToken?: string): Promise<void>;
  /** Taken also while the state is not known; `isKnown` says whether it is. */
  abstract change(matchId: string, change: QueueChange): Promise<{ outcome: ChangeOutcome; isKnown: boolean }>;
  /** 'out_of_step': a part before this one is missing (Redis lost it). Begin again. */
  abstract restore(matchId: string, part: RestoredPart): Promise<ChangeOutcome | 'out_of_step'>;
  /** Nothing remaining closes the line. A report that is older (`asOf` is smaller) than the last one changes nothing. */
  abstract reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<ChangeOutcome>;
  abstract readQueue(matchId: string): Promise<QueueState | undefined>;
}

export interface Admitted {
  readonly granted: number;
  /** More are due at once than `limit`. */
  readonly more: boolean;
  /** Nobody is in line or in a turn: nothing is due before somebody joins. */
  readonly quiet: boolean;
}

/** What moves a line forward; any pod may call it at any time. */
export abstract class LineMovement {
  abstract matches(): Promise<string[]>;
  /** Matches somebody asked this pod about within the last minute and whose state is still needed. */
  abstract matchesWithoutState(): readonly string[];
  /** Each looks at no more than `limit` fans and tells at how many: fewer than that means that nothing is left to do. */
  abstract drainClosed(matchId: string, limit: number): Promise<number>;
  abstract endWindows(matchId: string, limit: number): Promise<number>;
  abstract dropAbsent(matchId: string, limit: number): Promise<number>;
  abstract admit(matchId: string, limit: number): Promise<Admitted>;
  /** The event about fans without a socket who came a long way forward; `pace` is for their estimates. Tells how many. */
  abstract announcePositions(matchId: string, pace: LinePace | undefined): Promise<number>;
}

export interface PositionsRead {
  /** For each fan the position, 0 with an open window, -1 with neither. */
  readonly positions: readonly number[];
  /** Of those who wait. */
  readonly scores: readonly (number | null)[];
  /** None when the match has no queue any more. */
  readonly queue?: QueueState;
}

type Connected = { readonly matchId: string; readonly userId: string; readonly token: string };

/** A connection, named with whose it is: the pod knows its own by both. */
export interface FanDevice {
  readonly userId: string;
  /** Begins with the pod that holds it. */
  readonly websocketId: string;
}

export interface TokenRead {
  readonly matchId: string;
  readonly userId: string;
  readonly entry: QueueEntry;
}

/** What a pod reads and says for the fans connected to it. */
export abstract class ConnectedFans {
  /**
   * Undefined for a token that was never issued or is long over. A connection that has just come counts from now on; where it is
   * the sixth of its fan, on whatever pods, the oldest is `replaced`.
   */
  abstract readToken(token: string, websocketId?: string): Promise<TokenRead | undefined>;
  /** The same for an event stream, which replaces nobody: 'full' where there are five. */
  abstract readTokenOfStream(token: string, websocketId: string): Promise<TokenRead | 'full' | undefined>;
  abstract readPositions(matchId: string, userIds: readonly string[]): Promise<PositionsRead>;
  /** What has moved in the line after the move numbered `after`. */
  abstract readMoves(matchId: string, after: number): Promise<{ queue: QueueState; moves: LineMove[] } | undefined>;
  /**
   * The fan is here with these connections, oldest first: session and token live on. One that did not count, because Redis has
   * lost it, does from now on. False when the token is not the fan's present one.
   */
  abstract keep(fan: Connected, websocketIds: readonly string[]): Promise<boolean>;
  /** These fans are still connected. */
  abstract touch(matchId: string, userIds: readonly string[]): Promise<void>;
  /** These have closed. */
  abstract part(matchId: string, devices: readonly FanDevice[]): Promise<void>;
  /** This pod lives, and has closed those of its connections that were replaced; answered with those still to be closed. */
  abstract beat(matchId: string, pod: string, closed: readonly FanDevice[]): Promise<FanDevice[]>;
  /** This pod is about to close all its connections: none of them counts any more. */
  abstract sayGoodbye(matchId: string, pod: string): Promise<void>;
}

/** Fans who may not join, as the monolith wrote them down for us. */
export abstract class Blacklist {
  /** From memory: a moment behind. */
  abstract has(userId: string): boolean;
  /** Brings memory up to date; who is new on it. */
  abstract look(): Promise<readonly string[]>;
}

/** The signed word that a fan stood at this place. */
export abstract class Receipts {
  abstract sign(matchId: string, userId: string, score: string): string;
  /** The score, if we signed this for this fan and match. */
  abstract read(matchId: string, userId: string, receipt: string): string | undefined;
}

/** Absolute addresses, from configuration and never from a request. */
export abstract class Links {
  abstract checkout(matchId: string): string;
  abstract socket(queueToken: string): string;
  abstract stream(queueToken: string): string;
}
