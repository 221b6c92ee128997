/** Why we end a connection. */
export type Ending =
  { readonly why: 'draining'; readonly retryAfterMs: number } | { readonly why: 'unknown_token' | 'left' | 'over' | 'replaced' };

/** One open connection of a fan: a socket or an event stream. Neither call throws or waits, whatever the peer does. */
export abstract class Device {
  abstract readonly id: string;
  abstract readonly isOpen: boolean;
  /** What can be said again later (`update`) is skipped for a reader that is behind; one far behind is cut off. */
  abstract tell(text: string, weight: 'update' | 'needed'): void;
  abstract end(ending: Ending): void;
}

/** An event stream that wants to be opened: first it must be known whether it may. */
export interface NewStream {
  readonly id: string;
  /** Undefined for who is gone already. */
  open(): Device | undefined;
}
