/** Why the pod closes a connection. Each kind has its own close code on a socket. */
export type DisconnectReason =
  | { readonly kind: 'draining'; readonly retryAfterMs: number }
  | { readonly kind: 'unknown_token' | 'left' | 'over' | 'replaced' };

/** One open connection of a fan: a socket or an event stream. `send` and `close` never throw and never wait for the client. */
export abstract class Device {
  abstract readonly id: string;
  abstract readonly isOpen: boolean;
  /** Much unsent data makes a client slow: it misses `skippable` messages, which are repeated later. With far more it is disconnected. */
  abstract send(text: string, kind: 'skippable' | 'required'): void;
  abstract close(reason: DisconnectReason): void;
}

/** A request for an event stream. Its token is read before the stream is opened. */
export interface StreamRequest {
  readonly id: string;
  /** Undefined when the client has already disconnected. */
  open(): Device | undefined;
}
