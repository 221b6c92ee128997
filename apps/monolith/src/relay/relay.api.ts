/** One round of one destination: what came of how many messages is the relay's own business. */
export interface RelayRuns {
  readonly destination: { readonly name: string };
  /** `force`: mails and pushes older than a week too, unless the ledger says that they have left. */
  runOnce(limit?: number, options?: { readonly force?: boolean }): Promise<number>;
}

/** The relays, for who runs them by hand besides the services. */
export abstract class RelayApi {
  abstract readonly relays: readonly RelayRuns[];
}
