/** The content of an event: plain data, the same whether it came as JSON of an HTTP answer or as a line of a file. */
export type Payload = Readonly<Record<string, unknown>>;

/**
 * Something that happened at a source. An event never changes: the same id with another content is a violation, not an update.
 */
export class Event {
  constructor(
    readonly id: string,
    readonly payload: Payload,
  ) {
    Object.freeze(this);
  }
}

/**
 * An entry of an answer that is not a valid event. It is quarantined (stored aside for people to check), and the loader goes on
 * with the later events of the source.
 */
export interface BadEvent {
  /** Undefined if the id cannot be read. */
  readonly id: string | undefined;
  readonly code: 'EVENT_INVALID' | 'EVENT_IMMUTABILITY_VIOLATION';
  readonly detail: string;
  /** The entry as it was received, truncated. */
  readonly content: string;
}

/**
 * `numbers`: ids are positive integers in ascending order. `listed`: ids are names without an order; an event later in the
 * source's list is newer.
 */
export type IdOrder = 'numbers' | 'listed';

/** The identity of a source. Each kind of source adds how to reach it (URL, path, topic …). */
export interface Source {
  readonly name: string;
  readonly ids: IdOrder;
  /** How many ids below the cursor are requested again, for sources where a lower id may appear later. 0: none. */
  readonly overlap: number;
}

/**
 * Thrown when a source is unreachable, refuses the request, or answers in a wrong format. The loader goes on to the next source
 * and polls this source again later.
 */
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
