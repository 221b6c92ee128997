/** Why the pod closes a connection. On a socket each kind has its own close code (`closeCodes`). `over`: the queue entry or turn has ended. */
export type DisconnectReason =
  | { readonly kind: 'draining'; readonly retryAfterMs: number }
  | { readonly kind: 'unknownToken' | 'left' | 'over' | 'replacedByNewerDevice' };

/** One open connection of a fan: a socket or an event stream. `send` and `close` never throw and never wait for the client. */
export interface Device {
  readonly id: string;
  readonly isOpen: boolean;
  /**
   * A client with more than 64 KB of unsent data misses `skippable` messages, which are repeated later. Above 256 KB it is
   * disconnected.
   */
  send(text: string, kind: 'skippable' | 'required'): void;
  close(reason: DisconnectReason): void;
}

/** A request for an event stream. The queue token of the request is read before `open` starts the stream. */
export interface StreamRequest {
  readonly id: string;
  /** Opens the stream. Undefined when the client wants no stream (HEAD) or has already disconnected. */
  open(): Device | undefined;
}
