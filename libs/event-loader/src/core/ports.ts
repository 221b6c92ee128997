import type { BadEvent, Event, Source } from './event.ts';

/** The content of one answer of a source. */
export interface FetchResult {
  readonly events: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** The id of the last entry, good or bad. It is the next cursor for sources whose ids have no order (`listed`). */
  readonly lastId?: string;
  /** Whether the source has more events. If absent, an answer with as many entries as requested means that it has more. */
  readonly hasMore?: boolean;
  /** The source's own count, if it sends one: the number of its events up to and including this id. */
  readonly digest?: { readonly upToId: string; readonly count: number };
}

/** One request to one source. Throws `EventFetchError`. */
export abstract class EventFetcher<S extends Source = Source> {
  /** Returns only events after `afterId`; without `afterId` it starts at the oldest event. */
  abstract fetch(source: S, afterId: string | undefined, limit: number): Promise<FetchResult>;
}

/** All changes that result from one fetch. The store applies all of them or none. */
export interface Batch {
  readonly source: Source;
  /** The cursor before the fetch. If the stored cursor differs, another loader was faster and this batch is stale. */
  readonly from: string | undefined;
  /** The cursor after this batch. */
  readonly to: string | undefined;
  /** The number of the lock that the fetch was made under. The store refuses a number lower than the last one that wrote. */
  readonly lockNumber: number;
  /** Events to store. */
  readonly events: readonly Event[];
  /** Events at or below the id that the loader asked from. They are compared with the stored events, never stored. */
  readonly unrequested: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** The number of events that came more than once in the same answer, with the same content. */
  readonly duplicates: number;
  /** The number of ids between the cursor and the last event that the source did not send. */
  readonly gaps: number;
  /** True if the source has no more events after this batch. */
  readonly isCaughtUp: boolean;
  readonly digest?: { readonly upToId: string; readonly count: number };
}

export type AppendResult =
  | {
      readonly kind: 'appended';
      readonly stored: number;
      /** Events that were stored before, with the same content. */
      readonly refused: number;
      readonly quarantined: number;
    }
  /** Nothing was changed, because the cursor has moved or the holder of a newer lock has written. */
  | { readonly kind: 'stale' };

export abstract class EventStore {
  abstract lastKnownId(source: Source): Promise<string | undefined>;
  abstract append(batch: Batch): Promise<AppendResult>;
}

export abstract class Lock {
  /** Greater than the number of every earlier lock of this source. */
  abstract readonly lockNumber: number;
  /** False as soon as another loader may hold the lock. */
  abstract readonly isHeld: boolean;
  abstract release(): Promise<void>;
}

/** Decides which loader may fetch from a source: at most one at a time. Nobody waits for a lock. */
export abstract class LockFactory {
  /** Undefined if another loader holds the lock. */
  abstract tryAcquire(source: Source): Promise<Lock | undefined>;
}

/** The permission to send one request to a source now. It expires after `PERMIT_VALID_MS`. */
export abstract class Permit {
  /**
   * The request is over. The next one may start a full gap from now, because the time when this one reached the source is
   * unknown.
   */
  abstract requestFinished(): Promise<void>;
}

/** Decides when the next request to a source may be sent. */
export abstract class SourceRateLimiter {
  /**
   * Answers from local memory, so that many loaders do not query the shared rate limiter all the time. False if unknown; true
   * only if `tryAcquire` would certainly refuse.
   */
  isKnownLimited(_source: Source): boolean {
    return false;
  }
  /** Undefined if the gap after the last request is not over. */
  abstract tryAcquire(source: Source): Promise<Permit | undefined>;
}

/** The result of one poll of a source. */
export type PollResult =
  /** Another loader holds the lock; the gap after the last request is not over; the permit expired before the request. */
  | { readonly kind: 'locked' | 'rateLimited' | 'permitExpired' }
  /** The source had nothing new. */
  | { readonly kind: 'idle' }
  /** `excess`: the number of events beyond the requested limit. They are dropped here and come with the next poll. */
  | {
      readonly kind: 'appended';
      readonly stored: number;
      readonly refused: number;
      readonly quarantined: number;
      readonly excess?: number;
    }
  /** The events were fetched and dropped, because another loader was faster. They are fetched twice. */
  | { readonly kind: 'stale'; readonly fetchedCount: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Receives the result of every poll: logs it, counts it, keeps the last error. */
export abstract class PollLog {
  abstract record(source: Source, result: PollResult): Promise<void>;
  /** The source has failed several times in a row and is paused. */
  abstract breakerOpened(source: Source): void;
}

/** The clock of the loader. Tests replace it by one that they move by hand. */
export abstract class LoaderTime {
  /** Monotonic milliseconds: the clock never goes back. */
  abstract now(): number;
  abstract sleep(ms: number): Promise<void>;
  /** Waits for `work`, at most `ms`. True if `work` finished in that time. `work` must never reject. */
  abstract finishesWithin(ms: number, work: Promise<void>): Promise<boolean>;
}
