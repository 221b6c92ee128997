/** One round of one destination: what came of how many messages is the relay's own business. */
export interface RelayRounds {
  readonly destination: { readonly name: string };
  runOnce(limit?: number): Promise<number>;
}

/** The relays, for who runs them by hand besides the services. */
export abstract class RelayApi {
  abstract readonly relays: readonly RelayRounds[];
}
