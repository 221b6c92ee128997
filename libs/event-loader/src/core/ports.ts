import type { BadEvent, Event, Source } from './event.ts';

/** The content of one answer of a source. */
export interface FetchResult {
  readonly events: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** The id of the last entry, good or bad. It is the next cursor for sources whose ids have no order (`listed`). */
  readonly lastId?: string;
  /** Whether the source has more events. If absent, an answer with as many entries as requested means that it has more. */
  readonly hasMore?: boolean;
  /** The source's own count of its events up to and including `upToId`, if the source sends one. */
  readonly digest?: { readonly upToId: string; readonly count: number };
}

/** Fetches events from a source with one request (Stripe: one for each page). Throws `EventFetchError`. */
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
  /**
   * The number (fencing token) of the lock that the loader held during the fetch. The store refuses a batch whose number is lower
   * than that of the last stored batch.
   */
  readonly lockNumber: number;
  /** Events to store. */
  readonly events: readonly Event[];
  /**
   * Events that the source sent although their ids are not after the requested start. They are compared with the stored events,
   * never stored.
   */
  readonly unrequested: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** The number of events that came more than once in the same answer, with the same content. */
  readonly duplicates: number;
  /** The number of ids between the cursor and the last event that the source did not send. */
  readonly gaps: number;
  /** True if the source has no more events after this batch. */
  readonly isCaughtUp: boolean;
  readonly digest?: FetchResult['digest'];
}

/** What the store did with a batch. */
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

/** Stores loaded events, and the cursor of each source. */
export abstract class EventStore {
  abstract lastKnownId(source: Source): Promise<string | undefined>;
  abstract append(batch: Batch): Promise<AppendResult>;
}

/** The lock of one source. Its holder is the only loader that may fetch from that source. */
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
   * Reports that the request is over. The next request may start a full gap from now, because the time at which this request
   * reached the source is unknown.
   */
  abstract requestFinished(): Promise<void>;
}

/** Decides when the next request to a source may be sent. */
export abstract class SourceRateLimiter {
  /**
   * True only if `tryAcquire` would certainly refuse; false if that is unknown. It is read from local memory, so that many
   * loaders do not query the shared rate limiter all the time.
   */
  isKnownLimited(_source: Source): boolean {
    return false;
  }
  /** Asks for a permit. Undefined if the gap after the last request is not over. */
  abstract tryAcquire(source: Source): Promise<Permit | undefined>;
}

/** The result of one poll of a source. */
export type PollResult =
  /**
   * No request was sent. `locked`: another loader holds the lock. `rateLimited`: the gap after the last request is not over.
   * `permitExpired`: the permit expired, or the lock was lost, before the request.
   */
  | { readonly kind: 'locked' | 'rateLimited' | 'permitExpired' }
  /** The source had nothing new. */
  | { readonly kind: 'idle' }
  /** `excess`: the number of events beyond the requested limit. They are dropped, and the next poll fetches them again. */
  | (Extract<AppendResult, { kind: 'appended' }> & { readonly excess?: number })
  /**
   * The fetched events were dropped, because another loader has stored a batch of this source meanwhile. So they are fetched
   * twice.
   */
  | { readonly kind: 'stale'; readonly fetchedCount: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Receives the result of every poll: logs it, counts it, keeps the last error. */
export abstract class PollLog {
  abstract record(source: Source, result: PollResult): Promise<void>;
  /** Called when a source has failed several times in a row and is paused. */
  abstract breakerOpened(source: Source): void;
}

/** The clock of the loader. Tests use a clock that they move by hand. */
export abstract class LoaderTime {
  /** Monotonic milliseconds: the clock never goes back. */
  abstract now(): number;
  abstract sleep(ms: number): Promise<void>;
  /** Waits for `work`, at most `ms`. True if `work` finished in that time. `work` must never reject. */
  abstract finishesWithin(ms: number, work: Promise<void>): Promise<boolean>;
}
