/** A message as the relay read it from the outbox. */
export interface RelayedMessage {
  readonly id: string;
  readonly event: string;
  readonly body: unknown;
}

/**
 * The outcome of one message. `later`: the destination is unavailable, which is not the message's fault, so it is retried
 * without a limit. `failed`: retried, and parked for operators after ten failures. `poison`: it can never be delivered, so it is
 * parked at once.
 */
export type Delivery = { readonly id: string } & (
  { readonly outcome: 'delivered' } | { readonly outcome: 'later' | 'failed' | 'poison'; readonly error: string }
);

/**
 * Receives messages from the relay. Delivery is at least once: after a crash between `deliver` and the relay's commit a message
 * is delivered again, so every receiver must recognise its id. `deliver` throws when the destination is unavailable; then no
 * attempt is counted for the messages.
 */
export interface Destination {
  readonly name: string;
  /** Rows that one run of the relay locks: as many as can be delivered within one or two seconds. */
  readonly batchSize: number;
  /** A copy of each delivered message stays in `queued_jobs` until its consumer is done, because Redis may lose the job. */
  readonly keepsCopy?: boolean;
  /** For messages to people: a message older than a week is parked until an operator wants it sent. */
  readonly refusesStale?: boolean;
  /** Minimum number of due messages with a series for delivery as bundles, one bundle per series. Unset: no bundles. */
  readonly minRowsForBundles?: number;
  deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]>;
}
