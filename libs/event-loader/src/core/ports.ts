import type { BadEvent, Event, Source } from './event.ts';

/** What a source offered in one answer. */
export interface Fetched {
  readonly events: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** The last one offered, good or bad: the cursor to be, where ids have no order of their own. */
  readonly lastId?: string;
  /** Whether there is more where this came from. Without it a full answer says so. */
  readonly hasMore?: boolean;
  /** The source's own count, where it offers one: so many events up to and including this id. */
  readonly digest?: { readonly upToId: string; readonly count: number };
}

/** One request to one source. Throws `EventFetchError`. */
export abstract class EventFetcher<S extends Source = Source> {
  /** Without `afterId` from the beginning; never an event whose id is not beyond it. */
  abstract fetch(source: S, afterId: string | undefined, limit: number): Promise<Fetched>;
}

/** Everything one fetch changes. It becomes true together, or not at all. */
export interface Batch {
  readonly source: Source;
  /** Where the cursor stood when the source was asked; if it stands elsewhere, somebody was faster. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The number of the lock it was fetched under; a batch of an older lock than the last one comes too late. */
  readonly fence: number;
  /** To be stored. */
  readonly events: readonly Event[];
  /** Not to be stored: they came unasked from below the cursor, and are only compared with what is. */
  readonly unasked: readonly Event[];
  readonly bad: readonly BadEvent[];
  /** How often an event came twice in the same answer. */
  readonly repeated: number;
  /** Ids between the cursor and the last event that were not offered. */
  readonly gaps: number;
  /** All that the source had is in this batch. */
  readonly isAll: boolean;
  readonly digest?: { readonly upToId: string; readonly count: number };
}

export type Appended =
  | {
      readonly kind: 'appended';
      readonly stored: number;
      /** Known before, with the same content. */
      readonly refused: number;
      readonly quarantined: number;
    }
  /** The cursor has moved, or a newer lock has written: nothing was changed. */
  | { readonly kind: 'outpaced' };

export abstract class EventStore {
  abstract lastKnownId(source: Source): Promise<string | undefined>;
  abstract append(batch: Batch): Promise<Appended>;
}

export abstract class Lock {
  /** Greater than that of every lock of this source before it. */
  abstract readonly fence: number;
  /** False as soon as it is known that others may have it. */
  abstract readonly isHeld: boolean;
  abstract release(): Promise<void>;
}

/** Who may fetch? At most one of all loaders, and nobody waits for it. */
export abstract class LockFactory {
  abstract tryAcquire(source: Source): Promise<Lock | undefined>;
}

/** When may they? A pass is good for one request, to be sent at once. */
export abstract class Pass {
  /** The request is over: the next one may start a full gap from now, since nobody knows when exactly it reached the source. */
  abstract used(): Promise<void>;
}

export abstract class SourceRateLimiter {
  /** From what is known here, without asking: so that many loaders do not ask all the time. May say no when it is; never yes when it is open. */
  isKnownShut(_source: Source): boolean {
    return false;
  }
  abstract tryPass(source: Source): Promise<Pass | undefined>;
}

/** What became of a source's turn. */
export type PollResult =
  | { readonly kind: 'locked' | 'gated' | 'late' }
  | { readonly kind: 'idle' }
  /** `left`: so many more came than were asked for; they come with the next turn. */
  | {
      readonly kind: 'appended';
      readonly stored: number;
      readonly refused: number;
      readonly quarantined: number;
      readonly left?: number;
    }
  /** Fetched, and thrown away: these events are transported twice. */
  | { readonly kind: 'outpaced'; readonly transported: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Hears of every turn: logs, counts, remembers the last error. */
export abstract class PollLog {
  abstract heard(source: Source, turn: PollResult): Promise<void>;
  /** The source has failed so often in a row that it is left alone for a while. */
  abstract breakerOpened(source: Source): void;
}

export abstract class LoaderTime {
  /** Milliseconds that only go forward. */
  abstract now(): number;
  abstract sleep(ms: number): Promise<void>;
  /** Waits for the work, but no longer than this. True when it was over by then. The work never fails. */
  abstract within(ms: number, work: Promise<void>): Promise<boolean>;
}
