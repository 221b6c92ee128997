/** A message as the relay read it from the outbox. */
export interface RelayedMessage {
  readonly id: string;
  readonly event: string;
  readonly body: unknown;
}

/**
 * What became of one message: delivered, or why not. `later`: the way there is down, which says nothing about the message, so
 * it is tried for as long as it takes. `failed` ten times, or `poison` (it can never be delivered), is set aside for people.
 */
export type Delivery = { readonly id: string } & (
  { readonly outcome: 'delivered' } | { readonly outcome: 'later' | 'failed' | 'poison'; readonly error: string }
);

/**
 * Where messages go. Delivering is at least once: a crash after `deliver` and before the relay's commit delivers again, so
 * every receiver recognises the id. Throwing means nobody is at fault but the way there: nothing is counted against the rows.
 */
export interface Destination {
  readonly name: string;
  /** How many rows one round may hold locked: as many as can be delivered within a second or two. */
  readonly batchSize: number;
  /** What was delivered stays in `queued_jobs` until its consumer is done with it: Redis may lose it. */
  readonly keepsCopy?: boolean;
  /** It goes to people: what is older than a week is parked until somebody wants it sent all the same. */
  readonly refusesStale?: boolean;
  /** It takes a bundle of messages of one series as one message, if there are at least so many. */
  readonly bundlesFrom?: number;
  deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]>;
}
