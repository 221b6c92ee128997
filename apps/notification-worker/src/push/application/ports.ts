/** One notification to up to 500 devices of one fan or of many fans. */
export interface OutgoingPush {
  readonly messageId: string;
  readonly template: string;
  /** Absent for a broadcast, which goes to many fans. */
  readonly userId?: string;
  /** Set if this push is a range of a broadcast. */
  readonly broadcastId?: string;
  /** At most 500 device tokens, each only once. */
  readonly tokens: readonly string[];
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, string>>;
  /** True for a push that wakes the device and has a reserved share of the calls to the provider. */
  readonly urgent: boolean;
  readonly usefulUntil?: Date;
}

/**
 * What one call of `send` did. `devices`: to how many devices the call delivered the push; dead tokens are not counted. The outcome is
 * the result of the push's job.
 */
export type SendOutcome =
  { readonly outcome: 'sent'; readonly devices: number } | { readonly outcome: 'duplicate' | 'not sent: no provider' };

/** Sends each push once to each device. A second send of the same message returns `duplicate` and reaches no device. */
export abstract class Pushes {
  abstract send(push: OutgoingPush): Promise<SendOutcome>;
  /** Ends the sends of this worker: each stops after its current group of devices, and another worker continues it. */
  stop(): void {}
}

/**
 * Reads broadcasts. A broadcast is one message to the phones of all ticket holders of a match; its device tokens are stored when
 * it starts.
 */
export interface Broadcasts {
  /** Returns the device tokens of a range of a broadcast's devices: always the same tokens in the same order. */
  tokens(broadcastId: string, range: { readonly from: number; readonly to: number }): Promise<readonly string[]>;
}

/**
 * The result of a push to one device. `dead`: the token will never work again. `refused`: the provider does not accept this
 * message for this device. All other results except `sent` are failures that are retried: `failed` (not sent), `unanswered`
 * (unknown whether it was sent), `provider down` and `too fast` (not sent).
 */
export type DeviceResult =
  | { readonly kind: 'sent' | 'dead' }
  | { readonly kind: 'refused' | 'failed' | 'unanswered' | 'provider down'; readonly reason: string }
  | { readonly kind: 'too fast'; readonly forMs: number };

/**
 * The external provider that delivers pushes: at most 500 devices a call. `send` returns one result for each token, in the same
 * order.
 */
export abstract class PushProvider {
  abstract send(push: OutgoingPush): Promise<readonly DeviceResult[]>;
}
