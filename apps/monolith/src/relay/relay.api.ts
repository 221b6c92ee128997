/** The relay of one destination. */
export interface DestinationRelay {
  readonly destination: { readonly name: string };
  /**
   * Delivers one batch of at most `limit` messages and returns its size. With `force` it also sends mails and pushes that are
   * older than a week, unless the ledger of sends says that they were sent before.
   */
  runOnce(limit?: number, options?: { readonly force?: boolean }): Promise<number>;
}

/** The relays of all destinations. The CLI runs them by hand, in parallel with the services. */
export abstract class RelayApi {
  abstract readonly relays: readonly DestinationRelay[];
}
