import { continueFrom } from '#platform/tracing/origin';

/** An outbox message as the relay (the process that delivers messages) has read it. */
export interface RelayedMessage {
  readonly id: string;
  readonly event: string;
  readonly body: unknown;
  /** The origin of the message; null if it has none. */
  readonly requestId?: string | null;
  readonly traceparent?: string | null;
}

/** Runs the delivery of one message as a continuation of the request that has written the message. */
export function deliverFromOrigin<T>({ event, requestId, traceparent }: RelayedMessage, deliver: () => Promise<T>): Promise<T> {
  if (!requestId) return deliver();
  const origin = { requestId, traceparent: traceparent ?? undefined };
  return continueFrom(origin, `deliver ${event}`, deliver);
}

/**
 * The outcome of delivering one message.
 * - `later`: the destination is unavailable, which is not the fault of the message. It is retried without a limit.
 * - `failed`: the message is retried, and parked for operators after ten failures.
 * - `poison`: the message can never be delivered, so it is parked at once.
 */
export type Delivery = { readonly id: string } & (
  { readonly outcome: 'delivered' } | { readonly outcome: 'later' | 'failed' | 'poison'; readonly error: string }
);

/**
 * Where the relay delivers messages. Delivery is at least once: after a crash between `deliver` and the commit of the relay a
 * message is delivered a second time, so every receiver must recognise its id. `deliver` throws when the destination is
 * unavailable; then no attempt is counted for the messages.
 */
export interface Destination {
  readonly name: string;
  /** How many outbox rows one run of the relay locks: as many as can be delivered within one or two seconds. */
  readonly batchSize: number;
  /**
   * A copy of each delivered message stays in the table `queued_jobs` until its consumer is done, because Redis may lose the job.
   */
  readonly keepsCopy?: boolean;
  /**
   * For messages to people, which would confuse them when they come late: a message older than a week is parked until an operator
   * wants it sent.
   */
  readonly refusesStale?: boolean;
  /** Minimum number of due messages of one broadcast (same `series`) for delivering them as one bundle. Unset: no bundles. */
  readonly minRowsForBundles?: number;
  deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]>;
}
