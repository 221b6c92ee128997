import type { ClosedReason, FanState, QueueState, QueueStatus, RemainingSector } from '#domain/waiting-room/fan-state';

/** One fan's place and the queue around it. */
export interface Place {
  readonly state: FanState;
  readonly queue: QueueState;
  /** Null once the place or turn is over. */
  readonly queueToken: string | null;
  /** When the fan joined, in Redis' microseconds: what the receipt vouches for. */
  readonly score: string | null;
}

export type JoinOutcome =
  | { readonly kind: 'created' | 'kept'; readonly place: Place }
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

/** The lines of all matches. Each call is one atomic step and safe to repeat; time is the store's own. */
export abstract class WaitingLines {
  abstract join(matchId: string, userId: string): Promise<JoinOutcome>;
  /** Without joining; counts as a sign of life. Undefined when the match has no queue. */
  abstract visit(matchId: string, userId: string): Promise<Place | undefined>;
  abstract leave(matchId: string, userId: string): Promise<void>;
  abstract completeWindow(matchId: string, userId: string, sessionToken?: string): Promise<void>;
  abstract change(matchId: string, change: QueueChange): Promise<ChangeOutcome>;
  /** Nothing remaining closes the line. */
  abstract reportRemaining(matchId: string, sectors: readonly RemainingSector[]): Promise<ChangeOutcome>;
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
  /** Each does at most `limit` of it and tells how many. */
  abstract drainClosed(matchId: string, limit: number): Promise<number>;
  abstract endWindows(matchId: string, limit: number): Promise<number>;
  abstract admit(matchId: string, limit: number): Promise<Admitted>;
}

/** What a pod reads for the fans connected to it. */
export abstract class ConnectedPlaces {
  /** Undefined for a token that was never issued or is long over. */
  abstract readToken(token: string): Promise<{ matchId: string; userId: string; place: Place } | undefined>;
  /** For each fan the position, 0 with an open window, -1 with neither; no queue when the match has none any more. */
  abstract readPositions(matchId: string, userIds: readonly string[]): Promise<{ positions: number[]; queue?: QueueState }>;
  /** The fan is here: token and session live on. False when the token is not the fan's present one. */
  abstract keep(fan: { matchId: string; userId: string; token: string }, websocketId?: string): Promise<boolean>;
}

/** The signed word that a fan stood at this place. */
export abstract class Receipts {
  abstract sign(matchId: string, userId: string, score: string): string;
}

/** Absolute addresses, from configuration and never from a request. */
export abstract class Links {
  abstract checkout(matchId: string): string;
  abstract socket(queueToken: string): string;
  abstract stream(queueToken: string): string;
}
