/** Plain data, whatever the wire carried it as: JSON of an HTTP answer, a line of a file. */
export type Payload = Readonly<Record<string, unknown>>;

/** Something that happened at a source. It never changes: the same id with another content is a violation, not news. */
export class Event {
  constructor(
    readonly id: string,
    readonly payload: Payload,
  ) {
    Object.freeze(this);
  }
}

/** What came instead of an event. It is kept for people to look at, and the source goes on behind it. */
export interface BadEvent {
  /** Undefined when not even that can be read. */
  readonly id: string | undefined;
  readonly code: 'EVENT_INVALID' | 'EVENT_IMMUTABILITY_VIOLATION';
  readonly detail: string;
  /** As it came, shortened. */
  readonly content: string;
}

/**
 * `numbers`: positive integers that ascend. `listed`: names without an order of their own; what the source lists later is
 * newer.
 */
export type IdOrder = 'numbers' | 'listed';

/** Who a source is. How it is reached (URL, path, topic …) is what its fetcher's own kind of source adds. */
export interface Source {
  readonly name: string;
  readonly ids: IdOrder;
  /** How far below the cursor ids are asked for again, for sources whose low ids may come late. 0: nothing is asked for twice. */
  readonly overlap: number;
}

/** The source is away, refuses, or does not say what a source says. It is skipped, and asked again later. */
export class EventFetchError extends Error {
  constructor(
    readonly code:
      | 'SOURCE_UNREACHABLE'
      | 'SOURCE_TIMEOUT'
      | 'SOURCE_FAILED'
      | 'SOURCE_FORBIDDEN'
      | 'SOURCE_REDIRECT'
      | 'SOURCE_TOO_LARGE'
      | 'SOURCE_BAD_FORMAT'
      | 'SOURCE_STOPPED',
    detail: string,
    options?: { cause?: unknown },
  ) {
    super(`${code}: ${detail}`, options);
    this.name = 'EventFetchError';
  }
}
