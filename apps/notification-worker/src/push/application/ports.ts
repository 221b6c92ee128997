/** One notification for up to 500 devices, of one fan or of many. */
export interface OutgoingPush {
  readonly messageId: string;
  readonly template: string;
  /** Absent when it goes to many fans. */
  readonly userId?: string;
  /** One of the jobs of a broadcast. */
  readonly broadcastId?: string;
  /** At most 500, none twice. */
  readonly tokens: readonly string[];
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, string>>;
  /** Urgent pushes have calls reserved for them, and wake the device. */
  readonly urgent: boolean;
  readonly usefulUntil?: Date;
}

/** `devices`: for how many it was handed over in this call, dead ones not counted. */
export type Delivered = { readonly outcome: 'sent'; readonly devices: number } | { readonly outcome: 'duplicate' };

/** Where pushes go, once for each device: the same message a second time is `duplicate` and reaches none. */
export abstract class Pushes {
  abstract send(push: OutgoingPush): Promise<Delivered>;
  /** What is in hand is put down at the next chance. */
  stop(): void {}
}

export interface BroadcastProgress {
  readonly id: string;
  readonly template: string;
  readonly devices: number;
  /** Done with: delivered, dead or refused. */
  readonly done: number;
  readonly dead: number;
  readonly refused: number;
}

/** Broadcasts, whose devices were written down when they began. */
export abstract class Broadcasts {
  /** Always the same ones in the same order for the same range. */
  abstract tokens(broadcastId: string, range: { readonly from: number; readonly to: number }): Promise<readonly string[]>;
  /** Of the newest ones. */
  abstract progress(): Promise<readonly BroadcastProgress[]>;
}

/**
 * What became of one device's push. `dead`: the token will never work again. `refused`: the provider will not take this
 * message for this device. The rest is tried again: `failed` (it did not leave), `unanswered` (nobody knows), `too fast`.
 */
export type DeviceResult =
  | { readonly kind: 'sent' | 'dead' }
  | { readonly kind: 'refused' | 'failed' | 'unanswered' | 'provider down'; readonly reason: string }
  | { readonly kind: 'too fast'; readonly forMs: number };

/** Who carries pushes to devices: at most 500 a call, one result for each token, in their order. */
export abstract class PushProvider {
  abstract send(push: OutgoingPush): Promise<readonly DeviceResult[]>;
}
